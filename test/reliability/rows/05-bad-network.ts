import { faultsOf, pause, until, type Row, type Run } from '../row.ts';
import { allFaultsOf, overlookedBy, twiceIfLate, type Checks } from '../support/judge.ts';
import { longest, statusesOf, steadily, type Told } from '../support/load.ts';
import { openProxy, type Proxy, type Weather } from '../support/proxy.ts';
import { makeSchools, type School, type Schools } from '../support/school.ts';
import { startServer, type Server } from '../support/server.ts';
import { compare, faultsOfKept, overlooked, saidIn, type Written } from '../support/writers.ts';
import { bundle } from '../../support/bundle.ts';

const weathers: Weather[] = [
  { kind: 'late', milliseconds: 500 },
  { kind: 'silent' },
  { kind: 'cut', oneIn: 10 },
  { kind: 'slow', bytesPerSecond: 10_000 },
  { kind: 'refused' },
];

const row: Row = {
  name: 'the way to the database is bad',
  quick: true,
  async run(run) {
    const schools = await makeSchools(run, { count: 3 });
    const { all, first, env, postgres } = schools;
    const proxy = await openProxy(run, postgres.port);
    const through = (port: number) => ({ ...env, DATABASE_URL: postgres.url('schools', port) });
    const server = await startServer(run, through(proxy.port));
    const text_description = 'What there is to learn. '.repeat(40);
    for (let n = 0; n < 75; n += 1) {
      await first.client.post(`${server.base}/v2/courses`, { title: `Course ${n}`, text_description });
    }
    const control = wait(run, through, schools);

    const written: Written = { bookings: [], courses: [] };
    const figures: string[] = [];
    const faults: string[] = [];
    let last: Seen | undefined;
    const quick = weathers.filter(({ kind }) => kind === 'silent' || kind === 'cut');
    for (const weather of run.quick ? quick : weathers) {
      const around = { proxy, server, all, written };
      const round = await twiceIfLate(() => look(weather, run.quick ? 2_000 : 10_000, around), judge);
      figures.push(figuresOf(round.seen));
      faults.push(...round.faults);
      last = round.seen;
    }
    const kept = await compare(schools, written);
    faults.push(...faultsOf({ ...faultsOfKept(kept), 'the server lives': !server.hasEnded() }));
    faults.push(...(await overlooked(schools, server.base, written)));
    // Negative control: a server without timeouts, and a log with late and wrong responses.
    const unlimited = { ...(await control), asked: 0 };
    const found = [
      ...allFaultsOf(judge({ ...last!, answers: [unlimited], back: 5_001 })),
      ...allFaultsOf(judge({ ...last!, answers: [{ ...unlimited, status: 503, headers: {} }] })),
      ...allFaultsOf(judge({ ...last!, kind: 'cut', answers: [], cuts: 0 })),
    ];
    faults.push(...overlookedBy(found, 'over 10 s', 'told 503', 'within 5 s', 'some requests fail', 'rows are cut'));
    return { figures: `${figures.join('; ')}; without limits ${longest([unlimited])} ms`, faults };
  },
};
export default row;

/** Duration of a request on a server without timeouts while the database is silent. */
async function wait(run: Run, through: (port: number) => Record<string, string>, { first, postgres }: Schools) {
  const proxy = await openProxy(run, postgres.port);
  const command = [process.execPath, await bundle('test/reliability/support/naive-server.ts'), '{"patience":60000}'];
  const naive = await startServer(run, through(proxy.port), { command });
  await proxy.turn({ kind: 'silent' });
  return first.client.get(`${naive.base}/v2/courses`, { patience: 12_000 });
}

type Around = { proxy: Proxy; server: Server; all: School[]; written: Written };
let asked = 0;

async function look(weather: Weather, milliseconds: number, { proxy, server, all, written }: Around) {
  const read = (n: number) =>
    all[n % all.length]!.client.get(`${server.base}/v2/courses?since_id=${(asked += 1) % 10}`);
  const book = async (n: number) => {
    const school = all[n % all.length]!;
    asked += 1;
    const emails = [0, 1, 2].map((at) => `${asked}-${at}@people.example`);
    const participants = emails.map((email) => ({ firstname: 'Kari', lastname: 'Nordmann', email }));
    const body = { coursedate_id: school.dateIds[0], payment_method: 'invoice', participants };
    const booking: Written['bookings'][number] = { school, emails };
    written.bookings.push(booking);
    const answer = await school.client.post(`${server.base}/v2/booking`, body);
    if (answer.status === 201) booking.said = saidIn(answer.text);
    return answer;
  };
  // The slowest requests: each runs many sequential statements.
  const change = (n: number) => {
    const { client, courseId, dateIds } = all[n % all.length]!;
    const course = `${server.base}/v2/courses/${courseId}`;
    const words = { tags: [{ title: `Tag ${asked}` }], labels: [{ title: `Label ${asked}` }] };
    if (n % 2 === 0) return client.post(`${server.base}/v2/courses`, { title: `Course of ${asked}`, ...words });
    const gatherings = [{ gathering_at: '2035-06-10T10:00', gathering_end_at: '2035-06-10T11:00' }];
    const body = JSON.stringify({ capacity_max: 1_000_000 - n, gatherings });
    return client.ask(`${course}/coursedates/${dateIds[1]}`, { method: 'PUT', body });
  };
  const ask = (n: number) => (n % 5 === 0 ? book(n / 5) : n % 5 === 1 ? change(Math.floor(n / 5)) : read(n));

  // First few, so that connections stay free for the slow ones; then many.
  const asking = Promise.all([
    steadily(2, milliseconds + 1_500, ask),
    pause(milliseconds).then(() => steadily(15, 1_500, ask)),
  ]);
  await pause(1_000);
  const before = proxy.cuts();
  await proxy.turn(weather);
  await pause(milliseconds);
  await proxy.turn({ kind: 'clear' });
  const cuts = proxy.cuts() - before;
  const isBack = (n: number) =>
    until(async () => (await read(n)).status === 200 && (await book(n)).status === 201, 15_000);
  const back = Math.round(Math.max(...(await Promise.all(all.map((_, n) => isBack(n))))));
  const answers = (await asking).flat();
  return { kind: weather.kind, answers, back, cuts };
}
type Seen = Awaited<ReturnType<typeof look>>;

/** A blocked network must cause errors; added latency need not. */
const felt: Weather['kind'][] = ['silent', 'cut', 'refused'];

function judge({ kind, answers, back, cuts }: Seen): Checks {
  const isFine = ({ status, headers }: Told) =>
    status === 200 || status === 201 || (status === 503 && headers['retry-after'] !== undefined);
  const wrong = answers.filter((one) => !isFine(one));
  return {
    right: {
      [`${kind}: what fails is told 503 (${statusesOf(wrong)})`]: wrong.length === 0,
      [`${kind}: some requests fail`]: !felt.includes(kind) || answers.some(({ status }) => status === 503),
      [`${kind}: rows are cut`]: kind !== 'cut' || cuts > 0,
    },
    inTime: {
      [`${kind}: no request lives over 10 s (${longest(answers)} ms)`]: longest(answers) <= 10_000,
      [`${kind}: all is well within 5 s (${back} ms)`]: back <= 5_000,
    },
  };
}

const figuresOf = ({ kind, answers, back, cuts }: Seen) =>
  `${kind}${cuts > 0 ? ` amid ${cuts} rows` : ''}: ${statusesOf(answers)}, ${longest(answers)} ms at most, back in ${back} ms`;
