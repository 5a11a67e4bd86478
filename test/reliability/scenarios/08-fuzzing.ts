import { once } from 'node:events';
import { createServer } from 'node:http';
import type pg from 'pg';
import { freePort } from '../../support/ports.ts';
import type { Outcome, Scenario } from '../scenario.ts';
import { createClient, type HttpResponse, type RequestOptions, type Client } from '../support/client.ts';
import { cli } from '../support/cli.ts';
import { createResponseValidator, loadOperations, type Operation } from '../support/document.ts';
import { startPostgres } from '../support/postgres.ts';
import { parseResponse, sendRaw, requestWithLength } from '../support/raw.ts';
import { createGenerator, loadIds, type Generated } from '../support/requests.ts';
import { isForeign, hashTables, createTwoSchools } from '../support/two-schools.ts';
import { bundleWithoutTenancy } from '../../support/unscoped.ts';
import { startServer } from '../support/server.ts';

/** SQL, database and stack trace fragments that must not appear in a response. */
const internals =
  /\bat \S+ \(|node:internal|node_modules|\.(ts|js):\d+|\binsert into\b|\bselect .+ from\b|drizzle|\bpg_|relation "|violates|syntax error/i;

/** Number of 503 responses tolerated per run on a busy machine. */
const toleratedBusy = 10;

type Findings = Record<'5xx' | 'schema' | 'foreign' | 'internals', string[]>;

/** Collects the violations in a response. */
function collectViolations(
  findings: Findings,
  check: ReturnType<typeof createResponseValidator>,
  { operation, url, options }: Generated,
  response: HttpResponse,
) {
  const description = `${operation.method} ${url.slice(0, 200)} ${(options.body ?? '').slice(0, 300)}`;
  if (response.status >= 500 || response.status === 0)
    findings['5xx'].push(`${response.status} to ${description}: ${response.text.slice(0, 200)}`);
  if (isForeign(withoutSentIds(withoutUnknownMarks(response.text))))
    findings.foreign.push(`foreign data in the response to ${description}`);
  if (internals.test(response.text))
    findings.internals.push(`internals in the response to ${description}: ${response.text.slice(0, 200)}`);
  const failure = response.status === 0 ? undefined : check(operation, response);
  if (failure !== undefined) findings.schema.push(`${description}: ${failure}`);
}

/** A response to marks of attendance repeats the ids that it refuses as unknown. */
function withoutUnknownMarks(text: string) {
  if (!text.includes('_unknown"')) return text;
  const { results = [], ...others } = JSON.parse(text) as { results?: { code?: string }[] };
  return JSON.stringify({ ...others, results: results.filter(({ code = '' }) => !code.endsWith('_unknown')) });
}

/** Errors repeat the ids of participants that they refuse. */
const withoutSentIds = (text: string) =>
  text.includes('"errors":') ? text.replaceAll(/"participant_id":\d+/g, '"participant_id":0') : text;

/** Sends the URL unnormalised over a raw socket. */
async function sendUnnormalised(
  client: Client,
  base: string,
  url: string,
  { method = 'GET', headers, body }: RequestOptions,
) {
  const all = { 'x-api-key': client.apiKey, ...headers, connection: 'close' };
  const reply = await sendRaw(Number(new URL(base).port), requestWithLength(method, url, all, body), {
    untilClose: true,
  });
  return parseResponse(reply);
}

/** Sends the requests concurrently; `succeeded` counts the successful responses per operation. */
async function sendMany(
  client: Client,
  base: string,
  operations: Operation[],
  { count, next, random }: { count: number; next: (operation: Operation) => Generated; random: () => number },
) {
  const findings: Findings = { '5xx': [], schema: [], foreign: [], internals: [] };
  const check = createResponseValidator(operations);
  const succeeded = Object.fromEntries(operations.map(({ name }) => [name, 0]));
  let left = count;
  let raw = 0;
  let busy = 0;
  const worker = async () => {
    while ((left -= 1) >= 0) {
      let operation = operations[Math.floor(random() * operations.length)]!;
      // A password check costs as much as a hundred other requests.
      if (operation.path.includes('credentials') && random() > 0.1) operation = operations[2]!;
      const generated = next(operation);
      const { url, options } = generated;
      const isAddress = URL.canParse(base + url) && new URL(base + url).href === base + url;
      if (!isAddress) raw += 1;
      const send = () => (isAddress ? client.send(base + url, options) : sendUnnormalised(client, base, url, options));
      let response = await send();
      if (response.status === 503 && response.headers['retry-after'] !== undefined) {
        busy += 1;
        response = await send();
      }
      if (response.status >= 200 && response.status < 300) succeeded[operation.name]! += 1;
      collectViolations(findings, check, generated, response);
    }
  };
  // More workers would exceed the request timeout in the queue.
  await Promise.all(Array.from({ length: 8 }, worker));
  if (busy > toleratedBusy) findings['5xx'].push(`503 to ${busy} repeated requests`);
  return { findings, succeeded, raw, busy };
}

const scenario: Scenario = {
  name: 'fuzzing',
  quick: true,
  async run(run): Promise<Outcome> {
    const count = run.quick ? 1_500 : 50_000;
    const postgres = await startPostgres(run, { fsync: 'off', synchronous_commit: 'off' });
    const { apiKey, env, otherId } = await createTwoSchools(run, postgres, 'school');
    const server = await startServer(run, { ...env, WEBHOOK_ALLOW: '127.0.0.1' });
    const operations = await loadOperations(server.base);
    const client = createClient(apiKey);
    run.onCleanup(client.close);

    const { api_key: otherKey } = await cli<{ api_key: string }>(
      ['key', 'create', '--provider', String(otherId), '--json'],
      env,
    );
    const owner = createClient(otherKey);
    run.onCleanup(owner.close);
    for (const one of [client, owner]) await addWebhooks(one, server.base);
    const database = await postgres.connect('school');
    run.onCleanup(() => database.end());
    await addSentMails(database);
    await addPayments(database);
    const pools = {
      own: await loadIds(client, server.base, database, 1),
      foreign: await loadIds(owner, server.base, database, otherId),
    };
    const before = await hashTables(postgres, 'school', otherId);
    const queryNames = new Set(
      operations.flatMap(({ parameters }) =>
        parameters.flatMap((one) => (one.in === 'query' ? one.name.replace('[]', '') : [])),
      ),
    );
    const next = createGenerator(run.random, pools, [...queryNames]);
    const { findings, succeeded, raw, busy } = await sendMany(client, server.base, operations, {
      count,
      next,
      random: run.random,
    });
    const after = await hashTables(postgres, 'school', otherId);
    const changed = Object.keys(before).filter((table) => before[table] !== after[table]);
    // A short run sends too few requests to each.
    const neverSucceeded = run.quick ? [] : Object.entries(succeeded).filter(([, times]) => times === 0);

    const control = await runControls();
    const failures = [
      ...Object.values(findings).flatMap((list) => [
        ...list.slice(0, 5),
        ...(list.length > 5 ? [`and ${list.length - 5} more`] : []),
      ]),
      ...changed.map((table) => `the other school's ${table} changed`),
      ...neverSucceeded.map(([name]) => `${name} never succeeded`),
      ...Object.entries(control).flatMap(([name, list]) => (list.length > 0 ? [] : [`control: ${name} not detected`])),
    ];
    const good = Object.values(succeeded).reduce((sum, times) => sum + times, 0);
    return {
      figures: [
        `${count} requests to ${operations.length} endpoints, ${Math.round((100 * good) / count)} % successful, ${raw} with unnormalised URLs, ${busy} repeated after 503`,
        ...Object.entries(findings).map(([name, list]) => `${list.length} ${name}`),
        `control: ${Object.entries(control)
          .map(([name, list]) => `${list.length} ${name}`)
          .join(', ')}`,
      ].join(', '),
      failures,
    };

    /** Negative control: a server without tenancy, a renamed column and a wrong OpenAPI document. */
    async function runControls() {
      const command = [process.execPath, await bundleWithoutTenancy('test/reliability/support/plain-server.ts')];
      const withoutTenancy = await startServer(run, env, { command });
      await database.query('alter table instructors rename column company to firm');
      const reads = operations.filter(({ method }) => method === 'GET');
      const wrongOperations = reads.map((operation) => ({
        ...operation,
        responses: invalidateSchemas(operation.responses),
      }));
      const options = { count: 400, next, random: run.random };
      const { findings: found } = await sendMany(client, withoutTenancy.base, wrongOperations, options);
      const leakyResponse = { status: 200, headers: {}, elapsed: 0, text: '{"error":"select id from courses"}' };
      collectViolations(found, () => undefined, next(reads[0]!), leakyResponse);

      // Also a server that is always busy.
      const port = await freePort();
      const busy = createServer((_, response) => response.writeHead(503, { 'retry-after': '1' }).end('{}'));
      run.onCleanup(() => busy.close());
      await once(busy.listen(port, '127.0.0.1'), 'listening');
      const { findings: refused } = await sendMany(client, `http://127.0.0.1:${port}`, reads, {
        ...options,
        count: 20,
      });
      return { ...found, '503': refused['5xx'].filter((one) => one.includes('repeated requests')) };
    }
  },
};
export default scenario;

async function addWebhooks(client: Client, base: string) {
  const headers = { 'content-type': 'application/json' };
  const body = JSON.stringify({ url: 'http://127.0.0.1:1029/', is_active: false });
  for (let added = 0; added < 10; added += 1)
    await client.send(`${base}/v2/webhooks`, { method: 'POST', headers, body });
}

/** Mails of both schools that may be sent again. */
const addSentMails = (database: pg.Client) =>
  database.query(`insert into outbox (provider_id, purpose, user_id, created_at, due_at, sent_at)
    select provider_id, 'account_created', id, now() - interval '1 day', now() - interval '1 day', now() - interval '1 day'
    from course_users`);

/** Payments of both schools that may be reversed. */
const addPayments = (database: pg.Client) =>
  database.query(`insert into payments (provider_id, order_id, amount, paid_at, created_at, updated_at)
    select provider_id, id, 1, now(), now(), now() from orders`);

/** Declares every string of a response schema as an integer. */
const invalidateSchemas = (responses: Record<string, object>) =>
  JSON.parse(JSON.stringify(responses).replaceAll('"type":"string"', '"type":"integer"')) as Record<string, object>;
