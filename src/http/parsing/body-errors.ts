import type { FastifyError, FastifyRequest } from 'fastify';
import type { TObject } from '@sinclair/typebox';
import type { Ctx } from '../../core/context.ts';
import { Problem } from '../../core/errors.ts';
import { toProblem } from '../errors/error-handler.ts';

/** Fields that violate a rule outside the schema. */
export type BodyErrors = { missing: string[]; notValid: string[] };
type FindErrors = (ctx: Ctx, body: Record<string, unknown>) => Promise<BodyErrors>;

/** Route options that report schema errors together with the errors that `findErrors` returns. */
export const withBodyErrors = (findErrors: FindErrors) => ({
  attachValidation: true,
  preHandler: async (request: FastifyRequest) => {
    const { validationError, ctx, routeOptions } = request;
    if (!validationError) return;
    const problem = toProblem(validationError as FastifyError, request);
    if (validationError.validationContext !== 'body') throw problem;
    const ruleErrors = await findErrors(ctx, request.body as Record<string, unknown>);
    const order = Object.keys((routeOptions.schema?.body as TObject).properties);
    const missing = [...problem.missing, ...ruleErrors.missing];
    throw Problem.invalidFields({ missing, notValid: [...problem.notValid, ...ruleErrors.notValid] }, order);
  },
});
