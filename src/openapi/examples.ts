import type { Operation, Response } from './operation-types.ts';

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
