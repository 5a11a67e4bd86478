import { listExampleRequests } from './example-requests.ts';
import type { MakeText } from './long-texts.ts';

type Schema = {
  type?: string | string[];
  properties?: Record<string, Schema>;
  items?: Schema;
  additionalProperties?: Schema | boolean;
  maxLength?: number;
  enum?: unknown[];
  format?: string;
  pattern?: string;
};
type Operation = {
  operationId: string;
  parameters?: { in: string; name: string; schema: Schema }[];
  requestBody?: { content: Record<string, { schema: Schema; example?: unknown }> };
};
export type Document = { paths: Record<string, Record<string, Operation>> };

/** `valid`: texts of as many characters as a field takes. `longest`: as many units as are read, in each field. */
export type Extent = 'valid' | 'longest';

const itemsAtOnce = 10;
/** The line of a request has at most so many bytes, and a unit in it. */
const [maxUrlBytes, bytesOfUnit] = [15_000, 9];
/** Fields that name an item, a code or a zone. */
const references = /(_code|timezone|language|currency|country|time_zone|path|slug|host)$/;
const isText = ({ type }: Schema) => [type].flat().includes('string');
const isFree = (name: string, { enum: values, format, pattern }: Schema) =>
  values === undefined && format === undefined && pattern === undefined && !references.test(name);

function fillText(name: string, schema: Schema, given: unknown, make: MakeText, extent: Extent): unknown {
  const { maxLength = 5_000 } = schema;
  if (extent === 'longest') return make(2 * maxLength);
  return isFree(name, schema) ? make(maxLength) : given;
}

function fill(name: string, schema: Schema, given: unknown, make: MakeText, extent: Extent): unknown {
  if (schema.properties) {
    const values = (given ?? {}) as Record<string, unknown>;
    const entries = Object.entries(schema.properties).map(([key, child]) => [
      key,
      fill(key, child, values[key], make, extent),
    ]);
    return Object.fromEntries(entries.filter(([, value]) => value !== undefined));
  }
  if (schema.items) {
    const [first] = (Array.isArray(given) ? given : []) as unknown[];
    if (first === undefined) return given;
    return Array.from({ length: itemsAtOnce }, () => fill(name, schema.items!, first, make, extent));
  }
  if (typeof schema.additionalProperties === 'object') return { note: make(255) };
  return isText(schema) ? fillText(name, schema, given, make, extent) : given;
}

const isBody = (method: string) => method === 'post' || method === 'put';

/** A request of each operation that reads a text. */
export function listLongestRequests({ paths }: Document) {
  const all = Object.entries(paths).flatMap(([template, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ template, method, ...operation })),
  );
  const examples = listExampleRequests(all);
  return all.flatMap(({ template, method, operationId, parameters = [], requestBody }) => {
    const { path } = examples.find((one) => one.operationId === operationId) ?? {};
    const values = typeof path === 'object' ? path : {};
    const texts = parameters.filter(({ in: place, schema }) => place !== 'header' && isText(schema));
    const { schema, example } = requestBody?.content['application/json'] ?? {};
    if (texts.length === 0 && schema === undefined) return [];
    const toRequest = (make: MakeText, extent: Extent) => {
      const cut: MakeText = (length) => make(Math.min(length, Math.floor(maxUrlBytes / bytesOfUnit / texts.length)));
      const toText = (name: string) => {
        const found = texts.find((one) => one.name === name);
        return found && String(fillText(name, found.schema, 'x', cut, extent));
      };
      const inPath = (name: string) => encodeURIComponent(toText(name) ?? String(values[name] ?? 1));
      const query = texts
        .filter(({ in: place }) => place === 'query')
        .map(({ name }) => `${encodeURIComponent(name)}=${encodeURIComponent(toText(name)!)}`);
      return {
        method: method.toUpperCase() as 'GET' | 'POST' | 'PUT' | 'DELETE',
        url: `${template.replaceAll(/\{(\w+)\}/g, (_, name: string) => inPath(name))}?${query.join('&')}`,
        ...(isBody(method) && schema && { payload: fill('', schema, example, make, extent) as object }),
      };
    };
    return [{ name: operationId, toRequest }];
  });
}
