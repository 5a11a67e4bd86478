import { pause, percentile, type Row, type Run } from '../row.ts';
import { anew } from '../support/anew.ts';
import { allFaultsOf, overlookedBy, twiceIfLate, type Checks } from '../support/judge.ts';
import { longest, statusesOf, steadily } from '../support/load.ts';
import { makeSchools, type School, type Schools } from '../support/school.ts';
import { startServer, type Server } from '../support/server.ts';
import { bundle } from '../../support/bundle.ts';

const row: Row = {
  name: "one provider's lock is held",
  quick: true,
  async run(run) {
    const schools = await makeSchools(run, { count: 3 });
    const server = await startServer(run, schools.env);
    const { seen, faults } = await twiceIfLate(() => look(run, schools, server, run.quick ? 6_000 : 30_000), judge);
    server.signal('SIGTERM');
    await server.ended;

    const command = [process.execPath, await bundle('test/reliability/support/naive-server.ts'), '{"queue":false}'];
    const naive = await startServer(run, schools.env, { command });
    const without = await look(run, schools, naive, 4_000);
    // Also a log with late and with wrong responses.
    const late = { ...seen.writes[0]!, asked: 0, took: 3_001 };
    const found = [
      ...allFaultsOf(judge(without)),
      ...allFaultsOf(judge({ ...seen, writes: [late], reads: [{ ...late, status: 200 }] })),
      ...allFaultsOf(judge({ ...seen, writes: [{ ...late, status: 500 }], reads: [{ ...late, status: 500 }] })),
    ];
    return {
      figures: `${figuresOf(seen)}; without the queue others' p99 ${p99Of(without)} ms`,
      faults: [...faults, ...overlookedBy(found, "others' p99", 'within 3 s', 'within 1 s', 'its writes get', 'go on')],
    };
  },
};
export default row;

/** Holds the lock while 50 writers wait for it and other schools continue. */
async function look(run: Run, { postgres, all }: Schools, { base }: Server, milliseconds: number) {
  const [held, ...others] = all as [School, ...School[]];
  const holder = await postgres.connect('schools');
  run.afterwards(() => holder.end());
  await holder.query('begin');
  await holder.query('select from provider_state where provider_id = $1 for update', [held.id]);

  const until = performance.now() + milliseconds;
  const write = (school: School, n: number) =>
    school.client.post(`${base}/v2/courses`, { title: `Course ${performance.now()}-${n}` });
  const list = ({ client }: School) => client.get(`${base}/v2/courses?${anew()}`);
  const one = ({ client, courseId }: School) => client.get(`${base}/v2/courses/${courseId}`);
  const inTurn = [write, list, one];
  const refused = Array.from({ length: 50 }, async (_, n) => {
    const answers = [];
    while (performance.now() < until) {
      answers.push(await write(held, n));
      await pause(200);
    }
    return answers;
  });
  const during = milliseconds - 500;
  const [ofOthers, reads] = await Promise.all([
    steadily(40, during, (n) => {
      const school = others[n % others.length]!;
      return inTurn[Math.floor(n / others.length) % inTurn.length]!(school, n);
    }),
    steadily(10, during, () => list(held)),
  ]);
  const writes = (await Promise.all(refused)).flat();
  await holder.query('rollback');
  const after = await write(held, 0);
  return { milliseconds, ofOthers, reads, writes, after };
}
type Seen = Awaited<ReturnType<typeof look>>;

function p99Of({ ofOthers }: Seen) {
  const took = ofOthers.map((answer) => answer.took);
  return Math.round(percentile(took, 0.99));
}

function judge(seen: Seen): Checks {
  const { ofOthers, reads, writes, after } = seen;
  return {
    right: {
      [`others are all served (${statusesOf(ofOthers)})`]: ofOthers.every(({ status }) => status < 300 && status > 0),
      [`its writes get 503 with Retry-After (${statusesOf(writes)})`]: writes.every(
        ({ status, headers }) => status === 503 && headers['retry-after'] !== undefined,
      ),
      [`its reads go on (${statusesOf(reads)})`]: reads.every(({ status }) => status === 200),
      [`it writes again (${after.status})`]: after.status === 201,
    },
    inTime: {
      [`others' p99 under 100 ms (${p99Of(seen)} ms)`]: p99Of(seen) <= 100,
      [`its writes are told within 3 s (${longest(writes)} ms)`]: longest(writes) <= 3_000,
      [`its reads come within 1 s (${longest(reads)} ms)`]: longest(reads) <= 1_000,
    },
  };
}

const figuresOf = (seen: Seen) =>
  `${seen.milliseconds / 1_000} s, ${seen.writes.length} writes 503 within ${longest(seen.writes)} ms, others' p99 ${p99Of(seen)} ms`;
