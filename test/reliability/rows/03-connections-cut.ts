import { faultsOf, pause, until, type Row } from '../row.ts';
import { allFaultsOf, overlookedBy, type Checks } from '../support/judge.ts';
import { statusesOf, steadily, type Told } from '../support/load.ts';
import { openProxy } from '../support/proxy.ts';
import { makeSchools, type Schools } from '../support/school.ts';
import { startServer, type Server } from '../support/server.ts';
import { compare, faultsOfKept, saidIn, type Written } from '../support/writers.ts';
import { bundle } from '../../support/bundle.ts';

const row: Row = {
  name: 'every database connection is cut each second',
  quick: true,
  async run(run) {
    const schools = await makeSchools(run, { count: 2 });
    // With latency, so that many cuts fall between two statements of a transaction.
    const proxy = await openProxy(run, schools.postgres.port);
    await proxy.turn({ kind: 'late', milliseconds: 5 });
    const env = { ...schools.env, DATABASE_URL: schools.postgres.url('schools', proxy.port) };
    const server = await startServer(run, env);
    const seen = await look(schools, server, run.quick ? 8_000 : 60_000);
    const faults = [...allFaultsOf(judge(seen)), ...faultsOf(faultsOfKept(await compare(schools, seen.written)))];

    // Negative controls: a server without error listeners, logs that break each limit, a missing booking.
    const command = [process.execPath, await bundle('test/reliability/support/naive-server.ts'), '{"deaf":true}'];
    const deaf = await look(schools, await startServer(run, env, { command }), 3_000);
    const lost = { ...seen.answers[0]!, status: 503, asked: seen.cuts[0]! - 5_000, took: 10 };
    const found = [
      ...allFaultsOf(judge(deaf)),
      ...allFaultsOf(judge({ ...seen, answers: [...seen.answers, lost], between: 0 })),
    ];
    const forged = { school: schools.first, emails: ['forged'], said: { order: 1, booking: 1, participants: [1] } };
    const kept = await compare(schools, { ...seen.written, bookings: [...seen.written.bookings, forged] });
    const { cuts, between, answers } = seen;
    return {
      figures: `${cuts.length} cuts, ${between} between two statements, ${answers.length} requests: ${statusesOf(answers)}; control: one that does not listen ${deaf.ended ? 'ends' : 'lives'}, ${kept.lost} lost`,
      faults: [
        ...faults,
        ...overlookedBy(found, 'the process lives', 'told 503', 'in flight', 'two statements', 'ready again'),
        ...faultsOf({ 'the look finds a lost booking': kept.lost === 1 }),
      ],
    };
  },
};
export default row;

/** Reads and books 100 times a second while the database terminates all connections once a second. */
async function look(schools: Schools, server: Server, milliseconds: number) {
  const { postgres, all } = schools;
  const knife = await postgres.connect('postgres');
  const cuts: number[] = [];
  let between = 0;
  const over = new AbortController();
  const cutting = (async () => {
    while (!over.signal.aborted) {
      cuts.push(performance.now());
      const { rows } = await knife.query<{ state: string }>(
        `select state, pg_terminate_backend(pid) from pg_stat_activity where datname = 'schools'`,
      );
      between += rows.filter(({ state }) => state === 'idle in transaction').length;
      await pause(1_000);
    }
  })();
  const written: Written = { bookings: [], courses: [] };
  const answers = await steadily(100, milliseconds, async (n) => {
    const school = all[n % all.length]!;
    if (n % 3 > 0) return school.client.get(`${server.base}/v2/courses?since_id=${n}`);
    const emails = [0, 1, 2].map((at) => `${server.pid}-${n}-${at}@people.example`);
    const participants = emails.map((email) => ({ firstname: 'Kari', lastname: 'Nordmann', email }));
    const body = { coursedate_id: school.dateIds[0], payment_method: 'invoice', participants };
    const answer = await school.client.post(`${server.base}/v2/booking`, body);
    const booking = { school, emails };
    written.bookings.push(answer.status === 201 ? { ...booking, said: saidIn(answer.text) } : booking);
    return answer;
  });
  over.abort();
  await cutting;
  await knife.end();
  const ended = server.hasEnded();
  const back = await until(async () => (await all[0]!.client.get(`${server.base}/ready`)).status === 200, 2_000);
  return { cuts, between, answers, written, ended, back };
}

function judge({ cuts, between, answers, ended, back }: Awaited<ReturnType<typeof look>>): Checks {
  const failed = answers.filter(({ status }) => status >= 300 || status === 0);
  const untold = failed.filter(({ status, headers }) => status !== 503 || headers['retry-after'] === undefined);
  // A cut affects requests in flight, and terminating takes a moment.
  const isHit = ({ asked, took }: Told) => cuts.some((cut) => cut >= asked - 50 && cut <= asked + took);
  const strays = failed.filter((answer) => !isHit(answer));
  const example = untold[0] && ` ${untold[0].text} after ${Math.round(untold[0].took)} ms`;
  return {
    right: {
      'the process lives': !ended,
      [`what fails is told 503 with Retry-After (${statusesOf(untold)}${example ?? ''})`]: untold.length === 0,
      [`only what is in flight fails (${strays.length} others do)`]: strays.length === 0,
      'transactions are cut between two statements': between > 0,
      'it is ready again': back < Infinity,
    },
    inTime: {},
  };
}
