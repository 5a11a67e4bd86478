import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { hash } from '@node-rs/argon2';
import { pause, percentile, type Row } from '../row.ts';
import { anew } from '../support/anew.ts';
import { cli } from '../support/cli.ts';
import { clientOf } from '../support/client.ts';
import { temporaryFolder } from '../support/folder.ts';
import { startPostgres } from '../support/postgres.ts';
import { firstKey, firstProvider, startServer } from '../support/server.ts';

const bars = { apart: 0.03, p99: 500 };
const password = 'fjord and forest';

const row: Row = {
  name: 'sign-on',
  quick: true,
  async run(run) {
    const rounds = run.quick ? 6 : 30;
    const parallel = 100;
    const postgres = await startPostgres(run, { fsync: 'off' });
    await postgres.create('school');
    const env = { DATABASE_URL: postgres.url('school'), LOG_LEVEL: 'trace', ...firstProvider };
    const server = await startServer(run, env);
    const client = clientOf(firstKey);
    run.afterwards(client.close);

    const users = Array.from({ length: 8 * rounds + parallel }, (_, n) => ({
      kind: 'user',
      ref: `${n}`,
      username: `user-${n}`,
    }));
    const file = join(temporaryFolder(run), 'users.ndjson');
    writeFileSync(file, users.map((user) => JSON.stringify(user)).join('\n'));
    await cli(['import', file, '--provider', '1', '--allow', 'partners,categories'], env);
    const database = await postgres.connect('school');
    run.afterwards(() => database.end());
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

    const signOn = (username: string, word: string) =>
      client.post(`${server.base}/v2/check-user-credentials`, { username, password: word });
    const faults: string[] = [];

    /** Median response times of the kinds of failure, in random order per round, and their relative spread. */
    async function compare(usernames: Record<string, (n: number) => string>, from: number, rounds: number) {
      const took = Object.fromEntries(Object.keys(usernames).map((kind) => [kind, [] as number[]]));
      for (let n = from; n < from + rounds; n += 1) {
        const kinds = Object.keys(usernames).map((kind) => ({ kind, place: run.random() }));
        for (const { kind } of kinds.toSorted((a, b) => a.place - b.place)) {
          const answer = await signOn(usernames[kind]!(n), 'not the password');
          if (answer.text !== '{"valid":false}') faults.push(`${kind}: ${answer.status} ${answer.text}`);
          took[kind]!.push(answer.took);
        }
      }
      const medians = Object.fromEntries(Object.entries(took).map(([kind, times]) => [kind, percentile(times, 0.5)]));
      const all = Object.values(medians);
      return { medians, apart: (Math.max(...all) - Math.min(...all)) / Math.max(...all) };
    }
    for (let n = 0; n < 5; n += 1) await signOn(`nobody-at-all-${n}`, 'x');
    const of = (kind: number) => (n: number) => `user-${kind * rounds * 2 + n}`;
    const failures = {
      unknown: (n: number) => `nobody-${n}`,
      'current hash': of(0),
      'cheap hash': of(1),
      'costly hash': of(2),
      'no password': of(3),
    };
    let times = await compare(failures, 0, rounds);
    if (times.apart >= bars.apart) times = await compare(failures, rounds, rounds);
    if (times.apart >= bars.apart) faults.push(`failures are ${(times.apart * 100).toFixed(1)} % apart`);

    const others = [
      () => client.get(`${server.base}/v2/courses?limit=10&${anew()}`),
      () => client.get(`${server.base}/v2/orders/products?limit=10&${anew()}`),
      () => client.post(`${server.base}/v2/courses`, { title: `Course ${performance.now()}` }),
    ];
    /** p99 of other requests during the work: two lists and a write, alternating. */
    async function othersDuring(work: () => Promise<unknown>) {
      const took: number[] = [];
      let isOver = false;
      const asking = Array.from({ length: 4 }, async () => {
        for (let n = 0; !isOver; n += 1) {
          const answer = await others[n % others.length]!();
          took.push(answer.status === 200 || answer.status === 201 ? answer.took : Infinity);
          await pause(10);
        }
      });
      await work();
      isOver = true;
      await Promise.all(asking);
      return { p99: percentile(took, 0.99), count: took.length };
    }
    const signOnsAtOnce = async () => {
      const answers = await Promise.all(
        Array.from({ length: parallel }, (_, n) => signOn(`user-${8 * rounds + n}`, password)),
      );
      const good = answers.filter(({ text }) => text.startsWith('{"valid":true'));
      if (good.length < parallel)
        faults.push(`${parallel - good.length} of ${parallel} sign-ons at once are not answered well`);
    };
    let beside = await othersDuring(signOnsAtOnce);
    if (beside.p99 >= bars.p99) beside = await othersDuring(signOnsAtOnce);
    if (beside.p99 >= bars.p99) faults.push(`others wait ${Math.round(beside.p99)} ms beside ${parallel} sign-ons`);

    // Negative controls: a correct password, which is not delayed, and a paused server.
    const right = (await signOn('user-0', password)).took;
    if (right > times.medians['unknown']! * (1 - bars.apart)) faults.push('a right password is not told apart');
    const stopped = await othersDuring(async () => {
      server.signal('SIGSTOP');
      await pause(700);
      server.signal('SIGCONT');
    });
    if (stopped.p99 < bars.p99) faults.push('a server that stands still is not seen');

    return {
      figures: [
        `${Object.entries(times.medians)
          .map(([kind, median]) => `${kind} ${median.toFixed(1)}`)
          .join(', ')} ms (${(times.apart * 100).toFixed(1)} % apart, ${rounds} each)`,
        `beside ${parallel} sign-ons at once p99 of ${beside.count} others ${Math.round(beside.p99)} ms`,
        `control: a right password ${right.toFixed(1)} ms, a standstill ${Math.round(stopped.p99)} ms`,
      ].join(', '),
      faults,
    };
  },
};
export default row;
