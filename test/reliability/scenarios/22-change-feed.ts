import { bundleWithoutGuards } from '../../support/unguarded.ts';
import { freePort } from '../../support/ports.ts';
import { failedChecks, pause, type Run, type Scenario } from '../scenario.ts';
import { createClient, type Client } from '../support/client.ts';
import { startPostgres, type Postgres } from '../support/postgres.ts';
import { firstKey, firstProvider, startServer, stop } from '../support/server.ts';

const writers = 16;

const scenario: Scenario = {
  name: 'change feed read during writes',
  quick: true,
  async run(run) {
    const changes = run.quick ? 1_000 : 20_000;
    const postgres = await startPostgres(run, { fsync: 'off', synchronous_commit: 'off' });
    await postgres.create('school');
    const env = { DATABASE_URL: postgres.url('school'), LOG_LEVEL: 'error', ...firstProvider };
    const server = await startServer(run, env);
    const seen = await readWhileWriting(run, postgres, server.base, changes);
    await stop(server);

    // Negative control: without the lock an event can be committed after one with a greater id.
    const port = await freePort();
    const command = [
      process.execPath,
      await bundleWithoutGuards('test/support/unlocked-server.ts', ['lock', 'queue', 'voucherBalance']),
      postgres.url('school'),
      `${port}`,
    ];
    const unlocked = await startServer(run, {}, { command, port });
    const missedInControl = await missAtLeastOne(() => readWhileWriting(run, postgres, unlocked.base, 800));
    return {
      figures: [
        `${seen.recorded} changes by ${writers} writers in ${seen.seconds.toFixed(0)} s`,
        `${seen.requests} requests of a reader: ${seen.missed} missed, ${seen.doubled} doubled, ${seen.misplaced} out of order`,
        `control: ${missedInControl} missed without the lock`,
      ].join(', '),
      failures: failedChecks({
        'every write is accepted': seen.failures.length === 0,
        [`every write leaves a change (${seen.recorded} of ${changes})`]: seen.recorded === changes,
        'the reader misses no change': seen.missed === 0,
        'the reader receives no change twice': seen.doubled === 0,
        'the changes are in order': seen.misplaced === 0,
        'control: without the lock the reader misses changes': missedInControl > 0,
      }),
    };
  },
};
export default scenario;

type Seen = Awaited<ReturnType<typeof readWhileWriting>>;

/** A miss depends on chance. */
async function missAtLeastOne(observe: () => Promise<Seen>) {
  for (let attempt = 0; attempt < 5; attempt += 1) {
    const { missed } = await observe();
    if (missed > 0) return missed;
  }
  return 0;
}

type Changes = { items: { id: number }[]; cursor: string; has_more: boolean };

/** Creates and changes courses while a reader polls the feed every 2 ms. */
async function readWhileWriting(run: Run, postgres: Postgres, base: string, changes: number) {
  const client = createClient(firstKey);
  run.onCleanup(client.close);
  const read = async (query = '') => {
    const { status, text } = await client.get(`${base}/v2/changes${query}`);
    if (status !== 200) throw new Error(`the feed responds ${status} ${text}`);
    return JSON.parse(text) as Changes;
  };
  let { cursor } = await read();
  const start = cursor;
  const startedAt = performance.now();
  const received: number[] = [];
  let [writing, requests] = [true, 0];
  const follow = async () => {
    for (;;) {
      const last = !writing;
      const page = await read(`?since=${cursor}&limit=1000`);
      requests += 1;
      received.push(...page.items.map(({ id }) => id));
      cursor = page.cursor;
      if (last && page.items.length === 0) return;
      if (!page.has_more) await pause(2);
    }
  };
  const following = follow();
  const failures = await writeAll(client, base, changes);
  writing = false;
  await following;

  const database = await postgres.connect('school');
  const [, first] = Buffer.from(start, 'base64url').toString().split('.');
  const { rows } = await database.query<{ id: string }>('select id from events where provider_id = 1 and id > $1', [
    first,
  ]);
  await database.end();
  const unique = new Set(received);
  return {
    failures,
    requests,
    recorded: rows.length,
    seconds: (performance.now() - startedAt) / 1_000,
    missed: rows.filter(({ id }) => !unique.has(Number(id))).length,
    doubled: received.length - unique.size,
    misplaced: received.filter((id, n) => n > 0 && id < received[n - 1]!).length,
  };
}

let runs = 0;

/** Returns the responses that were not a success; half of the writes commit a while after their event got its id. */
async function writeAll(client: Client, base: string, changes: number) {
  const failures: string[] = [];
  const name = `Run ${(runs += 1)}`;
  const write = async (writer: number) => {
    let course = 0;
    for (let n = writer; n < changes; n += writers) {
      const isNew = course === 0 || n % 4 < 2;
      const translations = n % 2 === 0 ? { translations: { en: { lead: `In English ${n}` } } } : {};
      const response = isNew
        ? await client.post(`${base}/v2/courses`, { title: `${name} ${writer} ${n}`, ...translations })
        : await client.post(`${base}/v2/courses/${course}`, { reference: `${n}`, ...translations }, { method: 'PUT' });
      if (response.status === 503) n -= writers;
      else if (response.status > 201) failures.push(`${response.status} ${response.text}`);
      else if (isNew) course = (JSON.parse(response.text) as { course_id: number }).course_id;
    }
  };
  await Promise.all(Array.from({ length: writers }, (_, writer) => write(writer)));
  return failures;
}
