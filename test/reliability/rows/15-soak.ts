import { readdirSync } from 'node:fs';
import { pause, percentile, until, type Row, type Run } from '../row.ts';
import { clientOf, type Answer, type Client } from '../support/client.ts';
import { lookInside, watched } from '../support/inside.ts';
import { statusesOf } from '../support/load.ts';
import { startPostgres } from '../support/postgres.ts';
import { twoSchools } from '../support/schools.ts';
import { startServer, type Server } from '../support/server.ts';

const rate = 200;
/**
 * A connection is two handles, and a burst leaves a few open. A leak per thousand requests would be a hundred times as
 * many.
 */
const bars = { rate: 0.95, memory: 0.1, handles: 8 };
/** Compared windows as shares of the run: of thirty minutes, the three after the fifth and the last three. */
const warm = 5 / 30;
const part = 3 / 30;

/** Sends a request; retries if the idle connection was closed. */
type Question = { answer: Promise<Answer>; mayBeCut?: boolean };

/** Typical traffic: many reads, some writes, some invalid requests. */
async function day(client: Client, base: string): Promise<(random: () => number) => Question> {
  const dates = JSON.parse((await client.get(`${base}/v2/coursedates?limit=20`)).text) as {
    items: { coursedate_id: number }[];
  };
  const ids = dates.items.map(({ coursedate_id }) => coursedate_id);
  const { etag = '' } = (await client.get(`${base}/v2/courses?limit=20`)).headers;
  const made: number[] = [];
  const reads = ['courses', 'coursedates', 'orders', 'participants', 'customers', 'locations', 'nextcoursedates']
    .map((list) => `${base}/v2/${list}?limit=5`)
    .concat(`${base}/v2/schools`, `${base}/v2/coursedates?limit=5&include=course,location,gatherings`);
  const read = (random: () => number) => client.get(reads[Math.floor(random() * reads.length)]!);
  const create = async () => {
    const answer = await client.post(`${base}/v2/courses`, {
      title: 'Soaked',
      active: false,
      text_lead: 'x'.repeat(500),
    });
    if (answer.status === 201) made.push((JSON.parse(answer.text) as { course_id: number }).course_id);
    return answer;
  };
  const remove = () => client.ask(`${base}/v2/courses/${made.shift() ?? 0}`, { method: 'DELETE' });
  const book = (random: () => number) =>
    client.post(`${base}/v2/booking`, {
      coursedate_id: ids[Math.floor(random() * ids.length)],
      payment_method: 'invoice',
      participants: [{ firstname: 'A', lastname: 'B', email: `soak-${Math.floor(random() * 200)}@people.example` }],
    });
  const wrong = [
    () => client.get(`${base}/v2/courses`, { headers: { 'x-api-key': 'wrong' } }),
    () => client.get(`${base}/v2/courses?limit=x`),
    () => client.get(`${base}/v2/nothing`),
    () => client.ask(`${base}/v2/courses`, { method: 'POST', body: '{' }),
  ];
  const rude = [
    () => client.ask(`${base}/v2/courses`, { method: 'POST', body: 'x'.repeat(1_100_000) }),
    () => client.get(`${base}/v2/orders?limit=250`, { patience: 2 }),
  ];
  const any = (those: (() => Promise<Answer>)[], random: () => number) => those[Math.floor(random() * those.length)]!();
  return (random) => {
    const share = random();
    if (share < 0.7) return { answer: read(random) };
    if (share < 0.8) {
      return { answer: client.get(`${base}/v2/courses?limit=20`, { headers: { 'if-none-match': etag } }) };
    }
    if (share < 0.86) return { answer: create() };
    if (share < 0.92) return { answer: remove() };
    if (share < 0.95) return { answer: book(random) };
    if (share < 0.98) return { answer: any(wrong, random) };
    return { answer: any(rude, random), mayBeCut: true };
  };
}

type Sample = { resident: number; handles: number };

/** Sends requests at a fixed rate and samples memory and handles meanwhile. */
async function soak(run: Run, server: Server, ask: Awaited<ReturnType<typeof day>>, seconds: number) {
  const samples: Sample[] = [];
  const took: number[] = [];
  const failed: Answer[] = [];
  let underWay = 0;
  const begun = performance.now();
  const isOver = () => performance.now() - begun > seconds * 1_000;
  const looking = (async () => {
    while (!isOver()) {
      const { resident, handles } = await lookInside(server);
      samples.push({ resident, handles: handles + readdirSync(`/proc/${server.pid}/fd`).length });
      await pause(Math.max(500, seconds * 3));
    }
  })();
  for (let n = 0; !isOver(); n += 1) {
    while (underWay >= 50) await pause(2);
    underWay += 1;
    const { answer, mayBeCut = false } = ask(run.random);
    void answer.then((given) => {
      underWay -= 1;
      if (given.status > 0) took.push(given.took);
      if (given.status >= 500 || (given.status === 0 && !mayBeCut)) failed.push(given);
    });
    const early = begun + (n * 1_000) / rate - performance.now();
    if (early > 1) await pause(early);
  }
  const reached = took.length / ((performance.now() - begun) / 1_000);
  await Promise.all([looking, until(() => underWay === 0, 30_000)]);
  return { samples, took, failed, reached };
}

/** Relative growth of the median between the first window after warm-up and the last. */
function growthOf(samples: Sample[]) {
  const from = Math.floor(samples.length * warm);
  const length = Math.max(3, Math.ceil(samples.length * part));
  const [first, last] = [samples.slice(from, from + length), samples.slice(-length)];
  const middle = (those: Sample[], of: keyof Sample) =>
    percentile(
      those.map((one) => one[of]),
      0.5,
    );
  return {
    resident: middle(last, 'resident') / middle(first, 'resident') - 1,
    handles: middle(last, 'handles') - middle(first, 'handles'),
  };
}
type Growth = ReturnType<typeof growthOf>;

const growthFaults = ({ resident, handles }: Growth) => [
  ...(resident < bars.memory ? [] : [`memory grows by ${Math.round(resident * 100)} %`]),
  ...(handles <= bars.handles ? [] : [`${handles} handles more are open`]),
];

const row: Row = {
  name: 'soak',
  quick: false,
  onlyAlone: true,
  async run(run) {
    const seconds = run.minutes * 60;
    const postgres = await startPostgres(run, { fsync: 'off' });
    const { apiKey, env } = await twoSchools(run, postgres, 'school');
    const quiet = { ...env, LOG_LEVEL: 'silent', INVALID_KEYS_PER_MINUTE: '1000000' };
    const server = await startServer(run, quiet, { command: watched });
    const client = clientOf(apiKey, { sockets: 32 });
    run.afterwards(client.close);
    const { samples, took, failed, reached } = await soak(run, server, await day(client, server.base), seconds);
    const growth = growthOf(samples);

    // Negative control: a leaking server for 15 seconds.
    const [node, ...rest] = watched;
    const leaky = [node!, '--import', './test/reliability/support/leak.js', ...rest];
    const leaking = await startServer(run, quiet, { command: leaky });
    const other = clientOf(apiKey, { sockets: 32 });
    run.afterwards(other.close);
    const control = growthOf((await soak(run, leaking, await day(other, leaking.base), 15)).samples);

    const percent = (share: number) => `${share >= 0 ? '+' : ''}${(share * 100).toFixed(1)} %`;
    return {
      figures: [
        `${took.length} answers in ${run.minutes} minutes, ${reached.toFixed(1)} a second`,
        `p99 ${percentile(took, 0.99).toFixed(0)} ms`,
        `memory ${percent(growth.resident)} of ${Math.round(samples.at(-1)!.resident)} MB, handles ${growth.handles}`,
        `control: memory ${percent(control.resident)}, handles ${control.handles}`,
      ].join(', '),
      faults: [
        ...growthFaults(growth),
        ...(reached >= rate * bars.rate ? [] : [`only ${reached.toFixed(1)} answers a second`]),
        ...(failed.length === 0 ? [] : [`${failed.length} requests fail: ${statusesOf(failed)}, ${failed[0]!.text}`]),
        ...(growthFaults(control).length === 2 ? [] : ['a server that leaks is not seen']),
      ],
    };
  },
};
export default row;
