import { writeFile } from 'node:fs/promises';
import { format, resolveConfig } from 'prettier';
import { listExampleRequests, type ExampleRequest, type Responses } from './example-requests.ts';
import { idOf, itemsPath } from './openapi.ts';
import { send, type TestApp } from './test-app.ts';

type Body = { content: Record<string, { example?: object }> };
export type Operation = { operationId: string; requestBody?: Body; responses: Record<string, unknown> };
export type Paths<O = Operation> = Record<string, Record<string, O>>;
type Recorded = { operationId: string; status: number; body: unknown };
/** Response bodies by operation and status; those as CSV by `200 text/csv`. */
export type Examples = Record<string, Record<string, unknown>>;

const csv = 'text/csv';

export const examplesFile = 'src/http/openapi/examples.json';

/** Sends every example request to a new demo school. */
export async function recordResponses({ app, database }: TestApp, apiKey: string): Promise<Recorded[]> {
  const { paths } = app.swagger() as unknown as { paths: Paths };
  const operations = Object.entries(paths).flatMap(([template, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ template, method, ...operation })),
  );
  const responses: Responses = {};
  const recorded: Recorded[] = [];
  for (const request of listExampleRequests(operations)) {
    const options = toRequest(request, operations, responses);
    if (request.operationId === 'resendMail') await database.pool.query(sendMails);
    const response = await send(app, { ...options, headers: { 'x-api-key': apiKey } });
    const isCsv = String(response.headers['content-type']).startsWith(csv);
    if (!isCsv) responses[request.operationId] = response.json();
    const body: unknown = isCsv ? response.text : response.json();
    recorded.push({ operationId: request.operationId, status: response.status, body });
  }
  return recorded;
}

/** No mail server receives those of the recording. Mails that were just sent are not sent again. */
const sendMails = `update outbox set attempts = 1, created_at = created_at - interval '1 hour',
    sent_at = created_at - interval '1 hour' + interval '2 seconds'
  where sent_at is null`;

type Sent = Operation & { template: string; method: string };

export function toRequest(
  { operationId, path, query, body }: ExampleRequest,
  operations: Sent[],
  responses: Responses,
) {
  const found = operations.find((one) => one.operationId === operationId);
  if (!found) throw new Error(`There is no operation ${operationId}`);
  const { template, method, requestBody } = found;
  const isCreate = (one: Sent) => one.method.toLowerCase() === 'post' && one.template === itemsPath(template);
  const createdId = () => idOf(responses[operations.find(isCreate)!.operationId]);
  const given = typeof path === 'function' ? path(responses) : path;
  const values = given ?? (template.includes('{') ? { id: createdId() } : {});
  const queryText = typeof query === 'function' ? query(responses) : query;
  const url = template.replaceAll(/\{(\w+)\}/g, (_, name: string) => String(values[name]));
  const documented = requestBody?.content['application/json']?.example ?? {};
  return {
    method: method.toUpperCase() as 'GET' | 'POST' | 'PUT' | 'DELETE',
    url: queryText === undefined ? url : `${url}?${queryText}`,
    ...(requestBody ? { payload: body ?? documented } : {}),
  };
}

/** The last response of each success status, without secrets and cursors. */
export function toExamples(recorded: Recorded[]): Examples {
  const examples: Examples = {};
  for (const { operationId, status, body } of recorded.filter(({ status }) => status < 300))
    examples[operationId] = { ...examples[operationId], [exampleKey(status, body)]: replaceVolatile(shorten(body)) };
  return examples;
}

/** A body as CSV is a text. */
export const exampleKey = (status: number, body: unknown) =>
  typeof body === 'string' ? `${status} ${csv}` : `${status}`;

/** Lists of objects have one item, of the answer and of its items. */
function shorten(body: unknown): unknown {
  if (typeof body !== 'object' || body === null) return body;
  if (Array.isArray(body)) return (typeof body[0] === 'object' ? body.slice(0, 1) : body).map(shorten);
  return Object.fromEntries(Object.entries(body).map(([name, value]) => [name, shorten(value)]));
}

const replaceVolatile = (body: unknown): unknown =>
  JSON.parse(
    JSON.stringify(body, succeed)
      .replaceAll(/(\/my\/[\w-]+\/)[\w-]{20,}/g, '$1EXAMPLE-TOKEN')
      .replaceAll(/cbs_[\w-]{20,}/g, 'cbs_EXAMPLE_KEY')
      .replaceAll(/"cursor":"[\w-]+"/g, '"cursor":"EXAMPLE_CURSOR"')
      .replaceAll(/whsec_[\w+/]{20,}=/g, 'whsec_EXAMPLE_SECRET'),
  );

/** No server receives the message of the recording. */
const succeed = (_name: string, value: unknown) =>
  typeof value === 'object' && value !== null && 'duration_ms' in value
    ? { ...value, message_id: 'test_EXAMPLE', status_code: 204, duration_ms: 85, error: null }
    : value;

export async function writeExamples(examples: Examples) {
  const config = await resolveConfig(examplesFile);
  await writeFile(examplesFile, await format(JSON.stringify(examples, null, 2), { ...config, filepath: examplesFile }));
}
