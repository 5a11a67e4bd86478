import {
  findSchema,
  type CompleteOperation,
  type Document,
  type Operation,
  type Parameter,
  type Response,
} from './operation-types.ts';
import parameterExamples from './parameter-examples.json' with { type: 'json' };

type Examples = Record<string, Record<string, unknown>>;

/** Imported with the first document, not at start. */
async function loadExamples(): Promise<Examples> {
  const { default: examples } = await import('./examples.json', { with: { type: 'json' } });
  return examples;
}

/** A copy of the OpenAPI document with the responses that `npm run examples` recorded from the demo data. */
export async function addExamples<D extends object>(document: D): Promise<D> {
  const examples = await loadExamples();
  const { paths = {} } = document as { paths?: Record<string, Record<string, Operation>> };
  const withExamples = mapValues(paths, (operations) =>
    mapValues(operations, (operation) => addToOperation(operation, examples[operation.operationId ?? ''] ?? {})),
  );
  return { ...document, paths: withExamples };
}

/** A copy of the OpenAPI document with an example for each parameter, or each required one. */
export function addParameterExamples<D extends Document>(document: D, { onlyRequired = false } = {}): D {
  const { paths = {}, components } = document;
  const byName: Record<string, Parameter['example']> = parameterExamples;
  const addExample = (one: Parameter): Parameter => {
    const { name, description = '', schema = {}, required } = one;
    if (onlyRequired && !required) return one;
    const { enum: codes = [], type } = { ...schema, ...findSchema(document, findReference(schema)) } as Codes;
    const [code = type === 'boolean' ? true : undefined] = codes;
    return { example: byName[description] ?? byName[name] ?? (name.endsWith('[]') ? [code!] : code), ...one };
  };
  const addToOperation = (operation: CompleteOperation) => ({
    ...operation,
    parameters: operation.parameters?.map((one) => ('$ref' in one ? one : addExample(one))),
  });
  const all = paths as Record<string, Record<string, CompleteOperation>>;
  const shared = (components?.parameters ?? {}) as Record<string, Parameter>;
  return {
    ...document,
    paths: mapValues(all, (operations) => mapValues(operations, addToOperation)),
    components: { ...components, parameters: mapValues(shared, addExample) },
  };
}
type Codes = { enum?: (string | number)[]; type?: string };

/** The first reference of a schema. */
const findReference = (schema: object) => ({
  $ref: /"(#\/components\/schemas\/\w+)"/.exec(JSON.stringify(schema))?.[1],
});

function addToOperation(operation: Operation, examples: Record<string, unknown>): Operation {
  const withExample = <M extends object>(media: M, status: string, type: string): M => {
    const example = examples[type === 'text/csv' ? `${status} ${type}` : status];
    return { ...media, ...(example !== undefined && { example }) };
  };
  const addExample = (response: Response, status: string): Response =>
    status in examples && 'content' in response && response.content
      ? { ...response, content: mapValues(response.content, (media, type) => withExample(media, status, type)) }
      : response;
  return { ...operation, responses: mapValues(operation.responses, addExample) };
}

export const mapValues = <V, R>(object: Record<string, V>, map: (value: V, key: string) => R): Record<string, R> =>
  Object.fromEntries(Object.entries(object).map(([key, value]) => [key, map(value, key)]));
