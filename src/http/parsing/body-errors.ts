import type { FastifyError, FastifyRequest } from 'fastify';
import type { TObject } from '@sinclair/typebox';
import { inOrder } from '../../schema/validator.ts';
import type { Ctx } from '../../core/context.ts';
import { toProblem } from '../errors/error-handler.ts';

/** Fields that a rule beyond the schema refuses. */
export type BodyErrors = { missing: string[]; notValid: string[] };
type Find = (ctx: Ctx, body: Record<string, unknown>) => Promise<BodyErrors>;

/** Route options that name the faults of the schema together with those of such rules. */
export const withBodyErrors = (find: Find) => ({
  attachValidation: true,
  preHandler: async (request: FastifyRequest) => {
    const { validationError, ctx, routeOptions } = request;
    if (!validationError) return;
    const problem = toProblem(validationError as FastifyError, request);
    if (validationError.validationContext !== 'body') throw problem;
    const found = await find(ctx, request.body as Record<string, unknown>);
    const order = Object.keys((routeOptions.schema?.body as TObject).properties);
    throw inOrder(order, {
      missing: [...problem.missing, ...found.missing],
      notValid: [...problem.notValid, ...found.notValid],
    });
  },
});
