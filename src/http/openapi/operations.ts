import { addErrors } from './error-responses.ts';
import {
  findSchema,
  type Content,
  type Declared,
  type Document,
  type Operation,
  type Response,
} from './operation-types.ts';
import {
  invalidHeaders,
  notModifiedHeaders,
  requestHeaders,
  requestIdHeader,
  retryHeaders,
  successHeaders,
  type HeaderName,
  shareParameters,
} from './parameters.ts';

/** Documents the responses of each operation, ids, list parameters, and the request; shares repeated parameters. */
export function completeOperations<D extends Document>(document: D, declared: Map<string, Declared>): D {
  const responses: Record<string, Response> = {
    NotModified: { description: 'The ETag matches `If-None-Match`', headers: notModifiedHeaders },
  };
  const paths = (document.paths ?? {}) as Record<string, Record<string, Operation>>;
  const operations = Object.values(paths).flatMap((methods) => Object.values(methods));
  for (const operation of operations) {
    const own = declared.get(operation.operationId ?? '') ?? {};
    describeIds(operation, own);
    describeListParameters(operation);
    operation.parameters = [...(operation.parameters ?? []), ...requestHeaders(operation, document)];
    describeRequestBody(operation, document);
    describeResponses(operation, own, document);
    addErrors(operation, own, document, responses);
  }
  const parameters = shareParameters(operations, document.components?.schemas);
  document.components = { ...document.components, parameters, responses };
  omitUnused(document, operations);
  return document;
}

/** Leaves out the tags and headers of operations that no plugin brings. */
function omitUnused(document: Document, operations: Operation[]) {
  const tags = new Set(operations.flatMap((operation) => operation.tags ?? []));
  document.tags &&= document.tags.filter(({ name }) => tags.has(name));
  const text = JSON.stringify([operations, document.components?.responses]);
  const headers = Object.entries(document.components?.headers ?? {});
  const used = headers.filter(([name]) => text.includes(`"#/components/headers/${name}"`));
  document.components = { ...document.components, headers: Object.fromEntries(used) };
}

function describeIds({ parameters = [] }: Operation, { item = '' }: Declared) {
  for (const parameter of parameters.filter((parameter) => parameter.in === 'path'))
    parameter.description ??= `Id of the ${/^(\w+)_id$/.exec(parameter.name)?.[1] ?? item.toLowerCase()}`;
}

/** Lists are sent as `name[]=1&name[]=2`; `name=1,2` is accepted too, and not declared a second time. */
function describeListParameters({ parameters = [] }: Operation) {
  for (const parameter of parameters.filter(({ name }) => name.endsWith('[]')))
    Object.assign(parameter, { style: 'form', explode: true });
}

/** A body may be absent unless it has required fields. Each content type gets the example of the schema. */
function describeRequestBody({ requestBody }: Operation, document: Document) {
  if (!requestBody) return;
  const contents = Object.values(requestBody.content);
  const schemas = contents.map(({ schema }) => findSchema(document, schema) ?? schema);
  requestBody.required = schemas.some(({ required = [] }) => required.length > 0);
  contents.forEach((content, n) => {
    const [example] = schemas[n]!.examples ?? [];
    if (example !== undefined) content.example = example;
  });
}

function describeResponses(
  operation: Operation,
  { responseHeaders = [], hasSpreadsheet, isRepeatable }: Declared,
  document: Document,
) {
  const { responses } = operation;
  if (responses['304']) responses['304'] = { $ref: '#/components/responses/NotModified' };
  for (const [status, response] of Object.entries(responses)) {
    if ('$ref' in response) continue;
    const isSuccess = status.startsWith('2');
    const declared: HeaderName[] = [
      ...(status === '201' ? ['Location' as const] : []),
      ...(isRepeatable ? ['Idempotent-Replayed' as const] : []),
      ...responseHeaders,
      ...(hasSpreadsheet ? ['Content-Disposition' as const] : []),
    ];
    response.headers = isSuccess ? successHeaders(operation, declared) : (errorHeaders[status] ?? requestIdHeader);
    const schema = response.content?.['application/json']?.schema;
    const isList = (schema && (findSchema(document, schema) ?? schema).type?.includes('array')) ?? false;
    if (isSuccess) response.description = describeSuccess(status, isList, operation);
    if (isSuccess && hasSpreadsheet)
      response.content = { ...response.content, 'text/csv': { schema: { type: 'string' } } };
    if (status === '503') addExamples(response.content, { not_ready: notReady });
    if (status !== '400') continue;
    response.description = 'The request is not valid';
    addErrorExample(response.content, document);
  }
}

const errorHeaders: Record<string, object> = { 400: invalidHeaders, 503: retryHeaders };

function describeSuccess(status: string, isList: boolean, { responses, parameters = [] }: Operation) {
  if (status === '201') return 'Created';
  if ('201' in responses) return parameters.some(({ name }) => name === 'dry_run') ? 'A dry run' : 'It existed already';
  return isList ? 'Success: a list' : 'Success';
}

/** Copies the example of a schema that one operation alone has, for missing fields. */
function addErrorExample(content: Content | undefined, document: Document) {
  for (const media of Object.values(content ?? {})) {
    const [value] = findSchema(document, media.schema)?.examples ?? [];
    if (value !== undefined) addExamples({ media }, { missing: value as object });
  }
}

/** The body of a failed readiness check, the only 503 that a route declares. */
const notReady = { status: 'not ready', reason: 'the database cannot be reached' };

function addExamples(content: Content | undefined, values: Record<string, object>) {
  const examples = Object.entries(values).map(([name, value]) => [name, { value }] as const);
  for (const media of Object.values(content ?? {})) media.examples = Object.fromEntries(examples);
}
