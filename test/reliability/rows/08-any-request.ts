import { once } from 'node:events';
import { createServer } from 'node:http';
import { freePort } from '../../support/ports.ts';
import type { Outcome, Row } from '../row.ts';
import { clientOf, type Answer, type Asked, type Client } from '../support/client.ts';
import { cli } from '../support/cli.ts';
import { answerChecker, operationsOf, type Operation } from '../support/document.ts';
import { startPostgres } from '../support/postgres.ts';
import { answerIn, sendRaw, whole } from '../support/raw.ts';
import { generator, poolOf, type Generated } from '../support/requests.ts';
import { isForeign, stateOf, twoSchools } from '../support/schools.ts';
import { bundleWithoutTenancy } from '../../support/unscoped.ts';
import { startServer } from '../support/server.ts';

/** SQL, database and stack trace fragments that must not appear in a response. */
const inside =
  /\bat \S+ \(|node:internal|node_modules|\.(ts|js):\d+|\binsert into\b|\bselect .+ from\b|drizzle|\bpg_|relation "|violates|syntax error/i;

/** Number of 503 responses tolerated per run on a busy machine. */
const excused = 10;

type Findings = Record<'5xx' | 'schema' | 'foreign' | 'inside', string[]>;

/** Collects the violations in a response. */
function lookAt(
  findings: Findings,
  check: ReturnType<typeof answerChecker>,
  { operation, url, asked }: Generated,
  answer: Answer,
) {
  const told = `${operation.method} ${url.slice(0, 200)} ${(asked.body ?? '').slice(0, 300)}`;
  if (answer.status >= 500 || answer.status === 0)
    findings['5xx'].push(`${answer.status} to ${told}: ${answer.text.slice(0, 200)}`);
  if (isForeign(answer.text)) findings.foreign.push(`something foreign in the answer to ${told}`);
  if (inside.test(answer.text))
    findings.inside.push(`the inside shows in the answer to ${told}: ${answer.text.slice(0, 200)}`);
  const fault = answer.status === 0 ? undefined : check(operation, answer);
  if (fault !== undefined) findings.schema.push(`${told}: ${fault}`);
}

/** Sends the URL unnormalised over a raw socket. */
async function askRaw(client: Client, base: string, url: string, { method = 'GET', headers, body }: Asked) {
  const all = { 'x-api-key': client.apiKey, ...headers, connection: 'close' };
  const reply = await sendRaw(Number(new URL(base).port), whole(method, url, all, body), { whole: true });
  return answerIn(reply);
}

/** Sends the requests concurrently; `succeeded` counts the successful responses per operation. */
async function askMany(
  client: Client,
  base: string,
  operations: Operation[],
  { count, next, random }: { count: number; next: (operation: Operation) => Generated; random: () => number },
) {
  const findings: Findings = { '5xx': [], schema: [], foreign: [], inside: [] };
  const check = answerChecker(operations);
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
      const { url, asked } = generated;
      const isAddress = URL.canParse(base + url) && new URL(base + url).href === base + url;
      if (!isAddress) raw += 1;
      const ask = () => (isAddress ? client.ask(base + url, asked) : askRaw(client, base, url, asked));
      let answer = await ask();
      if (answer.status === 503 && answer.headers['retry-after'] !== undefined) {
        busy += 1;
        answer = await ask();
      }
      if (answer.status >= 200 && answer.status < 300) succeeded[operation.name]! += 1;
      lookAt(findings, check, generated, answer);
    }
  };
  // More workers would exceed the request timeout in the queue.
  await Promise.all(Array.from({ length: 8 }, worker));
  if (busy > excused) findings['5xx'].push(`503 to ${busy} requests that were asked again`);
  return { findings, succeeded, raw, busy };
}

const row: Row = {
  name: 'any request',
  quick: true,
  async run(run): Promise<Outcome> {
    const count = run.quick ? 3_000 : 50_000;
    const postgres = await startPostgres(run, { fsync: 'off', synchronous_commit: 'off' });
    const { apiKey, env, otherId } = await twoSchools(run, postgres, 'school');
    const server = await startServer(run, env);
    const operations = await operationsOf(server.base);
    const client = clientOf(apiKey);
    run.afterwards(client.close);

    const { api_key: otherKey } = await cli<{ api_key: string }>(
      ['key', 'create', '--provider', String(otherId), '--json'],
      env,
    );
    const owner = clientOf(otherKey);
    run.afterwards(owner.close);
    const database = await postgres.connect('school');
    run.afterwards(() => database.end());
    const pools = {
      own: await poolOf(client, server.base, database, 1),
      foreign: await poolOf(owner, server.base, database, otherId),
    };
    const before = await stateOf(postgres, 'school', otherId);
    const next = generator(run.random, pools);
    const { findings, succeeded, raw, busy } = await askMany(client, server.base, operations, {
      count,
      next,
      random: run.random,
    });
    const after = await stateOf(postgres, 'school', otherId);
    const changed = Object.keys(before).filter((table) => before[table] !== after[table]);
    const silent = Object.entries(succeeded).filter(([, times]) => times === 0);

    const control = await controlled();
    const faults = [
      ...Object.values(findings).flatMap((those) => [
        ...those.slice(0, 5),
        ...(those.length > 5 ? [`and ${those.length - 5} more`] : []),
      ]),
      ...changed.map((table) => `the other school's ${table} changed`),
      ...silent.map(([name]) => `${name} never succeeded`),
      ...Object.entries(control).flatMap(([what, those]) =>
        those.length > 0 ? [] : [`the look does not find ${what}`],
      ),
    ];
    const good = Object.values(succeeded).reduce((sum, times) => sum + times, 0);
    return {
      figures: [
        `${count} requests to ${operations.length} endpoints, ${Math.round((100 * good) / count)} % of them good, ${raw} as no browser writes them, ${busy} asked again`,
        ...Object.entries(findings).map(([what, those]) => `${those.length} ${what}`),
        `control: ${Object.entries(control)
          .map(([what, those]) => `${those.length} ${what}`)
          .join(', ')}`,
      ].join(', '),
      faults,
    };

    /** Negative control: a server without tenancy, a renamed column and a wrong OpenAPI document. */
    async function controlled() {
      const command = [process.execPath, await bundleWithoutTenancy('test/reliability/support/plain-server.ts')];
      const guardless = await startServer(run, env, { command });
      await database.query('alter table instructors rename column company to firm');
      const reads = operations.filter(({ method }) => method === 'GET');
      const lying = reads.map((operation) => ({ ...operation, answers: lie(operation.answers) }));
      const asked = { count: 400, next, random: run.random };
      const { findings: found } = await askMany(client, guardless.base, lying, asked);
      const wordy = { status: 200, headers: {}, took: 0, text: '{"error":"select id from courses"}' };
      lookAt(found, () => undefined, next(reads[0]!), wordy);

      // Also a server that is always busy.
      const port = await freePort();
      const busy = createServer((_, answer) => answer.writeHead(503, { 'retry-after': '1' }).end('{}'));
      run.afterwards(() => busy.close());
      await once(busy.listen(port, '127.0.0.1'), 'listening');
      const { findings: refused } = await askMany(client, `http://127.0.0.1:${port}`, reads, { ...asked, count: 20 });
      return { ...found, '503': refused['5xx'].filter((one) => one.includes('asked again')) };
    }
  },
};
export default row;

/** Declares every string of a response schema as an integer. */
const lie = (answers: Record<string, object>) =>
  JSON.parse(JSON.stringify(answers).replaceAll('"type":"string"', '"type":"integer"')) as Record<string, object>;
