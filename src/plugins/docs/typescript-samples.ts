import { mapValues } from '../../openapi/examples.ts';
import type { CompleteOperation, Parameter } from '../../openapi/operation-types.ts';
import { findParameters } from '../../openapi/parameters.ts';

type Paths = Record<string, Record<string, CompleteOperation>>;

/** A copy of the OpenAPI document with a sample for each operation in TypeScript, which Scalar cannot generate. */
export function addTypeScriptSamples<D extends object>(document: D, publicUrl: string): D {
  const { paths = {} } = document as { paths?: Paths };
  const addSample = (method: string, path: string, operation: CompleteOperation) => {
    const address = toCode(fillIn(publicUrl + path, findParameters(document, operation)));
    const source = createSample(method.toUpperCase(), address, operation);
    return { ...operation, 'x-codeSamples': [{ lang: 'typescript', label: 'TypeScript', source }] };
  };
  const withSamples = mapValues(paths, (operations, path) =>
    mapValues(operations, (operation, method) => addSample(method, path, operation)),
  );
  return { ...document, paths: withSamples };
}

function createSample(method: string, address: string, operation: CompleteOperation) {
  const { operationId = '', requestBody, security } = operation;
  const body = requestBody?.content['application/json']?.example;
  const headers = {
    ...(security?.length === 0 ? {} : { 'X-API-Key': 'YOUR_SECRET_TOKEN' }),
    ...(body === undefined ? {} : { 'Content-Type': 'application/json' }),
  };
  const options = [
    ...(method === 'GET' ? [] : [`method: ${toCode(method)}`]),
    ...(Object.keys(headers).length === 0 ? [] : [`headers: ${toCode(headers)}`]),
    ...(body === undefined ? [] : [`body: JSON.stringify(${toCode(body)})`]),
  ];
  const argumentList = [address, ...(options.length > 0 ? [toObject(options)] : [])];
  return `// ${operationId}.mts
const response = await fetch(${argumentList.join(', ')});
if (!response.ok) throw new Error(\`\${response.status}: \${await response.text()}\`);
const body: unknown = await response.json();
console.log(body);`;
}

const toCode = (value: unknown) => JSON.stringify(value, null, 2);
const toObject = (lines: string[]) => `{\n${lines.map((line) => `  ${line.replaceAll('\n', '\n  ')},\n`).join('')}}`;

/** The address with the examples of its parameters, and 1 for each id without an example. */
function fillIn(address: string, parameters: Parameter[]) {
  const examples = new Map(parameters.map(({ name, example }) => [name, example]));
  const path = address.replaceAll(/\{(\w+)\}/g, (_, name: string) =>
    encodeURIComponent(String(examples.get(name) ?? 1)),
  );
  const query = parameters
    .filter((parameter) => parameter.in === 'query' && (parameter.required || parameter.example !== undefined))
    .flatMap(({ name, example = 1 }) =>
      [example].flat().map((value) => `${name}=${encodeURIComponent(String(value))}`),
    );
  return query.length === 0 ? path : `${path}?${query.join('&')}`;
}
