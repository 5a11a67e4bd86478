import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { hash } from '@node-rs/argon2';
import { pause, percentile, type Scenario } from '../scenario.ts';
import { uniqueQuery } from '../support/unique-query.ts';
import { cli } from '../support/cli.ts';
import { createClient } from '../support/client.ts';
import { temporaryFolder } from '../support/folder.ts';
import { startPostgres } from '../support/postgres.ts';
import { firstKey, firstProvider, startServer } from '../support/server.ts';

const limits = { spread: 0.03, p99: 500 };
const password = 'fjord and forest';

const scenario: Scenario = {
  name: 'sign-on',
  quick: false,
  async run(run) {
    const rounds = run.quick ? 6 : 30;
    const parallel = 100;
    const postgres = await startPostgres(run, { fsync: 'off' });
    await postgres.create('school');
    const env = { DATABASE_URL: postgres.url('school'), LOG_LEVEL: 'trace', ...firstProvider };
    const server = await startServer(run, env);
    const client = createClient(firstKey);
    run.onCleanup(client.close);

    const users = Array.from({ length: 8 * rounds + parallel }, (_, n) => ({
      kind: 'user',
      ref: `${n}`,
      username: `user-${n}`,
    }));
    const file = join(temporaryFolder(run), 'users.ndjson');
    writeFileSync(file, users.map((user) => JSON.stringify(user)).join('\n'));
    await cli(['import', file, '--provider', '1', '--allow', 'partners,categories'], env);
    const database = await postgres.connect('school');
    run.onCleanup(() => database.end());
    const { rows } = await database.query<{ id: string }>('select min(id) as id from course_users');
    await cli(['user', 'set-password', '--provider', '1', '--user', rows[0]!.id], env, `${password}\n`);
    const [cheap, costly] = await Promise.all([
      hash(password, { memoryCost: 1_000, timeCost: 1, parallelism: 1 }),
      hash(password, { memoryCost: 65_536, timeCost: 4, parallelism: 1 }),
    ]);
    // A quarter each: the current, the lowest and the highest hash cost of an import, and no password; the rest have
    // the current cost.
    await database.query(
      `update course_users set password_hash = case substr(username, 6)::int / $3
          when 0 then (select password_hash from course_users where id = $4) when 1 then $1 when 2 then $2 when 3 then null
          else (select password_hash from course_users where id = $4) end`,
      [cheap, costly, 2 * rounds, rows[0]!.id],
    );
    await client.post(`${server.base}/v2/courses`, { title: 'Knots' });

    const signOn = (username: string, guess: string) =>
      client.post(`${server.base}/v2/check-user-credentials`, { username, password: guess });
    const failures: string[] = [];

    /** Median response times of the kinds of failure, in random order per round, and their relative spread. */
    async function compare(usernames: Record<string, (n: number) => string>, from: number, rounds: number) {
      const elapsed = Object.fromEntries(Object.keys(usernames).map((kind) => [kind, [] as number[]]));
      for (let n = from; n < from + rounds; n += 1) {
        const kinds = Object.keys(usernames).map((kind) => ({ kind, place: run.random() }));
        for (const { kind } of kinds.toSorted((a, b) => a.place - b.place)) {
          const response = await signOn(usernames[kind]!(n), 'not the password');
          if (response.text !== '{"valid":false}') failures.push(`${kind}: ${response.status} ${response.text}`);
          elapsed[kind]!.push(response.elapsed);
        }
      }
      const medians = Object.fromEntries(
        Object.entries(elapsed).map(([kind, times]) => [kind, percentile(times, 0.5)]),
      );
      const all = Object.values(medians);
      return { medians, spread: (Math.max(...all) - Math.min(...all)) / Math.max(...all) };
    }
    for (let n = 0; n < 5; n += 1) await signOn(`nobody-at-all-${n}`, 'x');
    const usernameOf = (kind: number) => (n: number) => `user-${kind * rounds * 2 + n}`;
    const attempts = {
      unknown: (n: number) => `nobody-${n}`,
      'current hash': usernameOf(0),
      'cheap hash': usernameOf(1),
      'costly hash': usernameOf(2),
      'no password': usernameOf(3),
    };
    let times = await compare(attempts, 0, rounds);
    if (times.spread >= limits.spread) times = await compare(attempts, rounds, rounds);
    if (times.spread >= limits.spread) failures.push(`response times differ by ${(times.spread * 100).toFixed(1)} %`);

    const otherRequests = [
      () => client.get(`${server.base}/v2/courses?limit=10&${uniqueQuery()}`),
      () => client.get(`${server.base}/v2/orders/products?limit=10&${uniqueQuery()}`),
      () => client.post(`${server.base}/v2/courses`, { title: `Course ${performance.now()}` }),
    ];
    /** p99 of other requests during the work: two lists and a write, alternating. */
    async function measureOthers(work: () => Promise<unknown>) {
      const elapsed: number[] = [];
      let isOver = false;
      const sending = Array.from({ length: 4 }, async () => {
        for (let n = 0; !isOver; n += 1) {
          const response = await otherRequests[n % otherRequests.length]!();
          elapsed.push(response.status === 200 || response.status === 201 ? response.elapsed : Infinity);
          await pause(10);
        }
      });
      await work();
      isOver = true;
      await Promise.all(sending);
      return { p99: percentile(elapsed, 0.99), count: elapsed.length };
    }
    const signOnConcurrently = async () => {
      const responses = await Promise.all(
        Array.from({ length: parallel }, (_, n) => signOn(`user-${8 * rounds + n}`, password)),
      );
      const good = responses.filter(({ text }) => text.startsWith('{"valid":true'));
      if (good.length < parallel) failures.push(`${parallel - good.length} of ${parallel} concurrent sign-ons failed`);
    };
    let concurrent = await measureOthers(signOnConcurrently);
    if (concurrent.p99 >= limits.p99) concurrent = await measureOthers(signOnConcurrently);
    if (concurrent.p99 >= limits.p99)
      failures.push(`other requests take ${Math.round(concurrent.p99)} ms during ${parallel} sign-ons`);

    // Negative controls: a correct password, which is not delayed, and a paused server.
    const correctMs = (await signOn('user-0', password)).elapsed;
    if (correctMs > times.medians['unknown']! * (1 - limits.spread))
      failures.push('control: a correct password takes as long');
    const paused = await measureOthers(async () => {
      server.signal('SIGSTOP');
      await pause(700);
      server.signal('SIGCONT');
    });
    if (paused.p99 < limits.p99) failures.push('control: a paused server not detected');

    return {
      figures: [
        `${Object.entries(times.medians)
          .map(([kind, median]) => `${kind} ${median.toFixed(1)}`)
          .join(', ')} ms (${(times.spread * 100).toFixed(1)} % spread, ${rounds} each)`,
        `during ${parallel} concurrent sign-ons p99 of ${concurrent.count} other requests ${Math.round(concurrent.p99)} ms`,
        `control: a correct password ${correctMs.toFixed(1)} ms, a pause ${Math.round(paused.p99)} ms`,
      ].join(', '),
      failures,
    };
  },
};
export default scenario;
