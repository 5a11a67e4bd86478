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

const bars = { apart: 0.1, p99: 500 };
const password = 'fjord and forest';

const row: Row = {
  name: 'sign-on',
  quick: true,
  async run(run) {
    const guesses = run.quick ? 60 : 200;
    const parallel = 100;
    const cheap = 30;
    const postgres = await startPostgres(run, { fsync: 'off' });
    await postgres.create('school');
    const env = { DATABASE_URL: postgres.url('school'), LOG_LEVEL: 'trace', ...firstProvider };
    const server = await startServer(run, env);
    const client = clientOf(firstKey);
    run.afterwards(client.close);

    const users = Array.from({ length: guesses + cheap }, (_, n) => ({
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
    await database.query(
      'update course_users set password_hash = (select password_hash from course_users where id = $1)',
      [rows[0]!.id],
    );
    await client.post(`${server.base}/v2/courses`, { title: 'Knots' });

    const signOn = (username: string, word: string) =>
      client.post(`${server.base}/v2/check-user-credentials`, { username, password: word });
    const faults: string[] = [];

    /** How far apart the medians are of two ways to fail, one after the other and in any order. */
    async function compare(unknown: (n: number) => string, wrong: (n: number) => string, count: number) {
      const took: Record<'unknown' | 'wrong', number[]> = { unknown: [], wrong: [] };
      for (let n = 0; n < count; n += 1) {
        const both = [['unknown', unknown(n)] as const, ['wrong', wrong(n)] as const];
        for (const [which, username] of run.random() < 0.5 ? both : both.toReversed()) {
          const answer = await signOn(username, 'not the password');
          if (answer.text !== '{"valid":false}')
            faults.push(`a ${which} sign-on answers ${answer.status} ${answer.text}`);
          took[which].push(answer.took);
        }
      }
      const [one, other] = [percentile(took.unknown, 0.5), percentile(took.wrong, 0.5)];
      return { one, other, apart: Math.abs(one - other) / Math.max(one, other) };
    }
    for (let n = 0; n < 5; n += 1) await signOn(`nobody-at-all-${n}`, 'x');
    const timed = (round: number) =>
      compare(
        (n) => `nobody-${round}-${n}`,
        (n) => `user-${n}`,
        guesses,
      );
    let times = await timed(1);
    if (times.apart >= bars.apart) times = await timed(2);
    if (times.apart >= bars.apart) faults.push(`an unknown user is told apart by ${Math.round(times.apart * 100)} %`);

    const others = [
      () => client.get(`${server.base}/v2/courses?limit=10&${anew()}`),
      () => client.get(`${server.base}/v2/orders/products?limit=10&${anew()}`),
      () => client.post(`${server.base}/v2/courses`, { title: `Course ${performance.now()}` }),
    ];
    /** The p99 of others' requests while something goes on: two lists and a write in turn. */
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
        Array.from({ length: parallel }, (_, n) => signOn(`user-${n % guesses}`, password)),
      );
      const good = answers.filter(({ text }) => text.startsWith('{"valid":true'));
      if (good.length < parallel)
        faults.push(`${parallel - good.length} of ${parallel} sign-ons at once are not answered well`);
    };
    let beside = await othersDuring(signOnsAtOnce);
    if (beside.p99 >= bars.p99) beside = await othersDuring(signOnsAtOnce);
    if (beside.p99 >= bars.p99) faults.push(`others wait ${Math.round(beside.p99)} ms beside ${parallel} sign-ons`);

    // The negative controls: users whose password is looked at in less time, and a server that stands still.
    const cheaper = await hash(password, { memoryCost: 2_048, timeCost: 1, parallelism: 1 });
    await database.query('update course_users set password_hash = $1 where substr(username, 6)::int >= $2', [
      cheaper,
      guesses,
    ]);
    const told = await compare(
      (n) => `no-one-${n}`,
      (n) => `user-${guesses + n}`,
      cheap,
    );
    if (told.apart < bars.apart) faults.push('a cheaper hash is not told apart');
    const stopped = await othersDuring(async () => {
      server.signal('SIGSTOP');
      await pause(700);
      server.signal('SIGCONT');
    });
    if (stopped.p99 < bars.p99) faults.push('a server that stands still is not seen');

    return {
      figures: [
        `unknown ${times.one.toFixed(1)} ms, wrong ${times.other.toFixed(1)} ms (${(times.apart * 100).toFixed(1)} % apart, ${guesses} each)`,
        `beside ${parallel} sign-ons at once p99 of ${beside.count} others ${Math.round(beside.p99)} ms`,
        `control: a cheaper hash ${Math.round(told.apart * 100)} % apart, a standstill ${Math.round(stopped.p99)} ms`,
      ].join(', '),
      faults,
    };
  },
};
export default row;
