import { readdirSync } from 'node:fs';
import { pause, percentile, waitUntil, type Scenario, type Run } from '../scenario.ts';
import { createClient, type HttpResponse, type Client } from '../support/client.ts';
import { inspectServer, inspectedCommand } from '../support/inspection.ts';
import { countStatuses } from '../support/load.ts';
import { startPostgres } from '../support/postgres.ts';
import { createTwoSchools } from '../support/two-schools.ts';
import { startServer, type Server } from '../support/server.ts';

const rate = 200;
/**
 * A connection is two handles, and a burst leaves a few open. A leak per thousand requests would be a hundred times as
 * many.
 */
const limits = { rate: 0.95, memory: 0.1, handles: 8 };
/** Compared windows as shares of the run: of thirty minutes, the three after the fifth and the last three. */
const warm = 5 / 30;
const part = 3 / 30;

/** Sends a request; retries if the idle connection was closed. */
type SentRequest = { response: Promise<HttpResponse>; mayFail?: boolean };

/** Typical traffic: many reads, some writes, some invalid requests. */
async function createTraffic(client: Client, base: string): Promise<(random: () => number) => SentRequest> {
  const dates = JSON.parse((await client.get(`${base}/v2/coursedates?limit=20`)).text) as {
    items: { coursedate_id: number }[];
  };
  const ids = dates.items.map(({ coursedate_id }) => coursedate_id);
  const { etag = '' } = (await client.get(`${base}/v2/courses?limit=20`)).headers;
  const created: number[] = [];
  const reads = ['courses', 'coursedates', 'orders', 'participants', 'customers', 'locations', 'nextcoursedates']
    .map((list) => `${base}/v2/${list}?limit=5`)
    .concat(`${base}/v2/schools`, `${base}/v2/coursedates?limit=5&include=course,location,gatherings`);
  const read = (random: () => number) => client.get(reads[Math.floor(random() * reads.length)]!);
  const create = async () => {
    const response = await client.post(`${base}/v2/courses`, {
      title: 'Soaked',
      active: false,
      text_lead: 'x'.repeat(500),
    });
    if (response.status === 201) created.push((JSON.parse(response.text) as { course_id: number }).course_id);
    return response;
  };
  const remove = () => client.send(`${base}/v2/courses/${created.shift() ?? 0}`, { method: 'DELETE' });
  const book = (random: () => number) =>
    client.post(`${base}/v2/booking`, {
      coursedate_id: ids[Math.floor(random() * ids.length)],
      payment_method: 'invoice',
      participants: [{ firstname: 'A', lastname: 'B', email: `soak-${Math.floor(random() * 200)}@people.example` }],
    });
  const invalid = [
    () => client.get(`${base}/v2/courses`, { headers: { 'x-api-key': 'wrong' } }),
    () => client.get(`${base}/v2/courses?limit=x`),
    () => client.get(`${base}/v2/nothing`),
    () => client.send(`${base}/v2/courses`, { method: 'POST', body: '{' }),
  ];
  const abusive = [
    () => client.send(`${base}/v2/courses`, { method: 'POST', body: 'x'.repeat(1_100_000) }),
    () => client.get(`${base}/v2/orders?limit=250`, { timeoutMs: 2 }),
  ];
  const any = (list: (() => Promise<HttpResponse>)[], random: () => number) =>
    list[Math.floor(random() * list.length)]!();
  return (random) => {
    const share = random();
    if (share < 0.7) return { response: read(random) };
    if (share < 0.8) {
      return { response: client.get(`${base}/v2/courses?limit=20`, { headers: { 'if-none-match': etag } }) };
    }
    if (share < 0.86) return { response: create() };
    if (share < 0.92) return { response: remove() };
    if (share < 0.95) return { response: book(random) };
    if (share < 0.98) return { response: any(invalid, random) };
    return { response: any(abusive, random), mayFail: true };
  };
}

type Sample = { resident: number; handles: number };

/** Sends requests at a fixed rate and samples memory and handles meanwhile. */
async function soak(run: Run, server: Server, send: Awaited<ReturnType<typeof createTraffic>>, seconds: number) {
  const samples: Sample[] = [];
  const elapsed: number[] = [];
  const failed: HttpResponse[] = [];
  let inFlight = 0;
  const startedAt = performance.now();
  const isOver = () => performance.now() - startedAt > seconds * 1_000;
  const sampling = (async () => {
    while (!isOver()) {
      const { resident, handles } = await inspectServer(server);
      samples.push({ resident, handles: handles + readdirSync(`/proc/${server.pid}/fd`).length });
      await pause(Math.max(500, seconds * 3));
    }
  })();
  for (let n = 0; !isOver(); n += 1) {
    while (inFlight >= 50) await pause(2);
    inFlight += 1;
    const { response, mayFail = false } = send(run.random);
    void response.then((result) => {
      inFlight -= 1;
      if (result.status > 0) elapsed.push(result.elapsed);
      if (result.status >= 500 || (result.status === 0 && !mayFail)) failed.push(result);
    });
    const delay = startedAt + (n * 1_000) / rate - performance.now();
    if (delay > 1) await pause(delay);
  }
  const achievedRate = elapsed.length / ((performance.now() - startedAt) / 1_000);
  await Promise.all([sampling, waitUntil(() => inFlight === 0, 30_000)]);
  return { samples, elapsed, failed, achievedRate };
}

/** Relative growth of the median between the first window after warm-up and the last. */
function growthOf(samples: Sample[]) {
  const from = Math.floor(samples.length * warm);
  const length = Math.max(3, Math.ceil(samples.length * part));
  const [first, last] = [samples.slice(from, from + length), samples.slice(-length)];
  const medianOf = (list: Sample[], of: keyof Sample) =>
    percentile(
      list.map((one) => one[of]),
      0.5,
    );
  return {
    resident: medianOf(last, 'resident') / medianOf(first, 'resident') - 1,
    handles: medianOf(last, 'handles') - medianOf(first, 'handles'),
  };
}
type Growth = ReturnType<typeof growthOf>;

const growthFaults = ({ resident, handles }: Growth) => [
  ...(resident < limits.memory ? [] : [`memory grows by ${Math.round(resident * 100)} %`]),
  ...(handles <= limits.handles ? [] : [`${handles} more open handles`]),
];

const scenario: Scenario = {
  name: 'soak',
  quick: false,
  explicitOnly: true,
  async run(run) {
    const seconds = run.minutes * 60;
    const postgres = await startPostgres(run, { fsync: 'off' });
    const { apiKey, env } = await createTwoSchools(run, postgres, 'school');
    const quiet = { ...env, LOG_LEVEL: 'silent', INVALID_KEYS_PER_MINUTE: '1000000' };
    const server = await startServer(run, quiet, { command: inspectedCommand });
    const client = createClient(apiKey, { sockets: 32 });
    run.onCleanup(client.close);
    const { samples, elapsed, failed, achievedRate } = await soak(
      run,
      server,
      await createTraffic(client, server.base),
      seconds,
    );
    const growth = growthOf(samples);

    // Negative control: a leaking server for 15 seconds.
    const [node, ...rest] = inspectedCommand;
    const leaky = [node!, '--import', './test/reliability/support/leak.js', ...rest];
    const leaking = await startServer(run, quiet, { command: leaky });
    const other = createClient(apiKey, { sockets: 32 });
    run.onCleanup(other.close);
    const control = growthOf((await soak(run, leaking, await createTraffic(other, leaking.base), 15)).samples);

    const percent = (share: number) => `${share >= 0 ? '+' : ''}${(share * 100).toFixed(1)} %`;
    return {
      figures: [
        `${elapsed.length} responses in ${run.minutes} minutes, ${achievedRate.toFixed(1)} a second`,
        `p99 ${percentile(elapsed, 0.99).toFixed(0)} ms`,
        `memory ${percent(growth.resident)} of ${Math.round(samples.at(-1)!.resident)} MB, handles ${growth.handles}`,
        `control: memory ${percent(control.resident)}, handles ${control.handles}`,
      ].join(', '),
      failures: [
        ...growthFaults(growth),
        ...(achievedRate >= rate * limits.rate ? [] : [`only ${achievedRate.toFixed(1)} responses a second`]),
        ...(failed.length === 0
          ? []
          : [`${failed.length} requests failed: ${countStatuses(failed)}, ${failed[0]!.text}`]),
        ...(growthFaults(control).length === 2 ? [] : ['control: a leak not detected']),
      ],
    };
  },
};
export default scenario;
