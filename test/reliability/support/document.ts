import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import { dereference } from '../../support/openapi.ts';
import type { HttpResponse } from './client.ts';

export type Schema = {
  type?: string | string[];
  enum?: unknown[];
  anyOf?: Schema[];
  items?: Schema;
  properties?: Record<string, Schema>;
  additionalProperties?: Schema;
  required?: string[];
  minimum?: number;
  maximum?: number;
  pattern?: string;
  description?: string;
};
export type Operation = {
  name: string;
  method: string;
  path: string;
  parameters: { name: string; in: string; required?: boolean; schema: Schema }[];
  body: Schema | undefined;
  /** Their keys are statuses, such as `200` or `4XX`. */
  responses: Record<string, object>;
};
type OpenApiOperation = {
  parameters?: Operation['parameters'];
  requestBody?: { content: Record<string, { schema: Schema }> };
  responses: Record<string, { content?: Record<string, { schema: object }> }>;
};

/** Operations of a server's OpenAPI document. */
export async function loadOperations(base: string): Promise<Operation[]> {
  const { paths } = dereference<{ paths: Record<string, Record<string, OpenApiOperation>> }>(
    (await (await fetch(`${base}/openapi.json`)).json()) as object,
  );
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([lower, { parameters = [], requestBody, responses }]) => {
      const method = lower.toUpperCase();
      const schemas = Object.entries(responses).flatMap(([status, { content }]) =>
        content ? [[status, content['application/json']!.schema]] : [],
      );
      const body = requestBody?.content['application/json']?.schema;
      return { name: `${method} ${path}`, method, path, parameters, body, responses: Object.fromEntries(schemas) };
    }),
  );
}

/** Describes how a response violates its schema; undefined if it does not. */
export function createResponseValidator(operations: Operation[]) {
  const ajv = formats.default(new Ajv2020({ strict: false }));
  const validators = new Map<string, ValidateFunction>();
  for (const { name, responses } of operations)
    for (const [status, schema] of Object.entries(responses)) validators.set(`${name} ${status}`, ajv.compile(schema));

  return ({ name, parameters }: Operation, { status, headers, text }: HttpResponse) => {
    const validate = validators.get(`${name} ${status}`) ?? validators.get(`${name} ${Math.floor(status / 100)}XX`);
    if (!validate) return `undocumented status ${status}`;
    const type = String(headers['content-type']);
    if (type.startsWith('text/csv') && parameters.some((one) => one.name === 'format')) return undefined;
    if (!type.startsWith('application/json')) return `${status} is not JSON`;
    if (validate(JSON.parse(text))) return undefined;
    return `violates its schema of ${status}: ${ajv.errorsText(validate.errors)}`;
  };
}
