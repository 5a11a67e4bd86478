import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import { dereference } from '../../support/openapi.ts';
import type { Answer } from './client.ts';

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
  /** By status, such as `200` or `4XX`. */
  answers: Record<string, object>;
};
type Told = {
  parameters?: Operation['parameters'];
  requestBody?: { content: Record<string, { schema: Schema }> };
  responses: Record<string, { content?: Record<string, { schema: object }> }>;
};

/** What a server's own document says that can be asked. */
export async function operationsOf(base: string): Promise<Operation[]> {
  const { paths } = dereference<{ paths: Record<string, Record<string, Told>> }>(
    (await (await fetch(`${base}/openapi.json`)).json()) as object,
  );
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([lower, { parameters = [], requestBody, responses }]) => {
      const method = lower.toUpperCase();
      const schemas = Object.entries(responses).flatMap(([status, { content }]) =>
        content ? [[status, content['application/json']!.schema]] : [],
      );
      const body = requestBody?.content['application/json']?.schema;
      return { name: `${method} ${path}`, method, path, parameters, body, answers: Object.fromEntries(schemas) };
    }),
  );
}

/** Tells what of an answer is not as the document says; undefined when nothing is. */
export function answerChecker(operations: Operation[]) {
  const ajv = formats.default(new Ajv2020({ strict: false }));
  const compiled = new Map<string, ValidateFunction>();
  for (const { name, answers } of operations)
    for (const [status, schema] of Object.entries(answers)) compiled.set(`${name} ${status}`, ajv.compile(schema));

  return ({ name }: Operation, { status, headers, text }: Answer) => {
    const validate = compiled.get(`${name} ${status}`) ?? compiled.get(`${name} ${Math.floor(status / 100)}XX`);
    if (!validate) return `answers an unknown ${status}`;
    if (!String(headers['content-type']).startsWith('application/json')) return `answers ${status} as no JSON`;
    if (validate(JSON.parse(text))) return undefined;
    return `breaks its schema of ${status}: ${ajv.errorsText(validate.errors)}`;
  };
}
