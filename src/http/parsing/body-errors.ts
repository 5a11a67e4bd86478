import type { FastifyError, FastifyRequest, RouteOptions } from 'fastify';
import type { TObject } from '@sinclair/typebox';
import type { ErrorCode } from '../../core/error-codes.ts';
import type { Ctx } from '../../database/context.ts';
import { Problem } from '../../core/errors.ts';
import type { References } from '../../lists/references.ts';
import { toProblem } from '../errors/error-handler.ts';

/** Fields that violate a rule outside the schema, as `Problem.invalidFields` takes them. */
type BodyErrors = { missing: string[]; notValid: string[]; rules?: Record<string, ErrorCode> };
type Fields = Record<string, unknown>;

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The fields of the body that name other items. */
    references?: References;
    /** Finds errors of the body that its schema does not report. */
    findBodyErrors?: (ctx: Ctx, body: Fields) => Promise<BodyErrors>;
  }
}

/** Lets a route report schema errors together with unknown references and the errors of `findBodyErrors`. */
export function reportBodyErrors(route: RouteOptions) {
  const { references, findBodyErrors } = route.config ?? {};
  if (!references && !findBodyErrors) return;
  route.attachValidation = true;
  const reportErrors = async (request: FastifyRequest) => {
    const { validationError, ctx, routeOptions } = request;
    if (!validationError) return;
    const problem = toProblem(validationError as FastifyError, request);
    if (validationError.validationContext !== 'body') throw problem;
    const body = request.body as Fields;
    const ruleErrors = await findBodyErrors?.(ctx, body);
    const scope = { ctx, reader: ctx.db, params: request.params as Record<string, number> };
    const unknown = await references?.findUnknown(withoutFaults(body, problem), scope);
    const missing = [...problem.missing, ...(ruleErrors?.missing ?? [])];
    const notValid = [...problem.notValid, ...(ruleErrors?.notValid ?? []), ...(unknown ?? [])];
    const order = Object.keys((routeOptions.schema?.body as TObject).properties);
    const rules = ruleErrors?.rules ?? {};
    throw Problem.invalidFields({ missing, notValid, unknown: problem.unknown, rules }, order);
  };
  route.preHandler = [reportErrors, ...[route.preHandler ?? []].flat()];
}

function withoutFaults(body: Fields, { missing, notValid }: Problem) {
  const faulty = new Set([...missing, ...notValid].map((path) => path.split(/[.[]/, 1)[0]));
  return Object.fromEntries(Object.entries(body).filter(([name]) => !faulty.has(name)));
}
