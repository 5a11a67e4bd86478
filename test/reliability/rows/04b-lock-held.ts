import { faultsOf, pause, percentile, type Row, type Run } from '../row.ts';
import { longest, statusesOf, steadily } from '../support/load.ts';
import { makeSchools, type School, type Schools } from '../support/school.ts';
import { startServer, type Server } from '../support/server.ts';

const row: Row = {
  name: "one provider's lock is held",
  quick: true,
  async run(run) {
    const schools = await makeSchools(run, { count: 3 });
    const server = await startServer(run, schools.env);
    let seen = await look(run, schools, server, run.quick ? 6_000 : 30_000);
    if (seen.others > 100) seen = await look(run, schools, server, 6_000);
    server.signal('SIGTERM');
    await server.ended;

    const command = [process.execPath, 'test/reliability/support/naive-server.js', '{"queue":false}'];
    const naive = await startServer(run, schools.env, { command });
    const { others } = await look(run, schools, naive, 4_000);
    return {
      figures: `${seen.figures}; without the queue others' p99 ${others} ms`,
      faults: [...seen.faults, ...faultsOf({ "the look finds others' waits without the queue": others > 100 })],
    };
  },
};
export default row;

/** Holds the lock that long, with 50 writers who wait for it, and others who do not. */
async function look(run: Run, { postgres, all }: Schools, { base }: Server, milliseconds: number) {
  const [held, ...others] = all as [School, ...School[]];
  const holder = await postgres.connect('schools');
  run.afterwards(() => holder.end());
  await holder.query('begin');
  await holder.query('select from provider_state where provider_id = $1 for update', [held.id]);

  const until = performance.now() + milliseconds;
  const write = (school: School, n: number) =>
    school.client.post(`${base}/v2/courses`, { title: `Course ${performance.now()}-${n}` });
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
      return n % 4 === 0 ? write(school, n) : school.client.get(`${base}/v2/courses/${school.courseId}`);
    }),
    steadily(10, during, () => held.client.get(`${base}/v2/courses?limit=5`)),
  ]);
  const writes = (await Promise.all(refused)).flat();
  await holder.query('rollback');
  const after = await write(held, 0);
  const p99 = Math.round(
    percentile(
      ofOthers.map(({ took }) => took),
      0.99,
    ),
  );
  const whole = {
    [`others' p99 under 100 ms (${p99} ms)`]: p99 <= 100,
    [`others are all served (${statusesOf(ofOthers)})`]: ofOthers.every(({ status }) => status < 300 && status > 0),
    [`its writes get 503 with Retry-After (${statusesOf(writes)})`]: writes.every(
      ({ status, headers }) => status === 503 && headers['retry-after'] !== undefined,
    ),
    [`its writes are told within 3 s (${longest(writes)} ms)`]: longest(writes) <= 3_000,
    [`its reads go on (${statusesOf(reads)}, ${longest(reads)} ms)`]:
      reads.every(({ status }) => status === 200) && longest(reads) <= 1_000,
    [`it writes again (${after.status})`]: after.status === 201,
  };
  const figures = `${milliseconds / 1_000} s, ${writes.length} writes 503 within ${longest(writes)} ms, others' p99 ${p99} ms`;
  return { others: p99, figures, faults: faultsOf(whole) };
}
