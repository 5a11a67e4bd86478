import { readdirSync } from 'node:fs';
import { pause, percentile, type Row, type Run } from '../row.ts';
import { clientOf, type Client } from '../support/client.ts';
import { lookInside, watched } from '../support/inside.ts';
import { startPostgres } from '../support/postgres.ts';
import { twoSchools } from '../support/schools.ts';
import { startServer, type Server } from '../support/server.ts';

const rate = 200;
/** A handle that leaks does so a thousand times; the client's own connections come and go. */
const bars = { memory: 0.1, handles: 32, busy: 0.01 };

/** What the service is asked all day: much reading, some writing, and some that is wrong. */
async function day(client: Client, base: string) {
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
    () => client.ask(`${base}/v2/courses`, { method: 'POST', body: 'x'.repeat(1_100_000) }),
    () => client.get(`${base}/v2/orders?limit=250`, { patience: 2 }),
  ];
  return (random: () => number) => {
    const share = random();
    if (share < 0.7) return read(random);
    if (share < 0.8) return client.get(`${base}/v2/courses?limit=20`, { headers: { 'if-none-match': etag } });
    if (share < 0.86) return create();
    if (share < 0.92) return remove();
    if (share < 0.95) return book(random);
    return wrong[Math.floor(random() * wrong.length)]!();
  };
}

type Sample = { resident: number; objects: number; handles: number };

/** Asks so many a second for so long, looking inside now and then. */
async function soak(run: Run, server: Server, ask: Awaited<ReturnType<typeof day>>, seconds: number) {
  const samples: Sample[] = [];
  const took: number[] = [];
  let failed = 0;
  let busy = 0;
  let underWay = 0;
  const every = Math.max(1, seconds / 120);
  const end = performance.now() + seconds * 1_000;
  let next = performance.now() + every * 1_000;
  const begun = performance.now();
  for (let n = 0; performance.now() < end; n += 1) {
    while (underWay >= 50) await pause(2);
    underWay += 1;
    void ask(run.random).then((answer) => {
      underWay -= 1;
      if (answer.status === 503) busy += 1;
      else if (answer.status >= 500) failed += 1;
      if (answer.status > 0) took.push(answer.took);
    });
    if (performance.now() >= next) {
      next += every * 1_000;
      const { resident, objects, handles } = await lookInside(server);
      samples.push({ resident, objects, handles: handles + readdirSync(`/proc/${server.pid}/fd`).length });
    }
    const early = begun + (n * 1_000) / rate - performance.now();
    if (early > 1) await pause(early);
  }
  return { samples, took, failed, busy };
}

/** By how much the end is above the middle of what came once it had warmed up, as its least values tell. */
function growthOf(samples: Sample[], warmShare: number) {
  const warm = samples.slice(Math.floor(samples.length * warmShare));
  const part = Math.max(3, Math.floor(warm.length / 5));
  const [first, last] = [warm.slice(0, part), warm.slice(-part)];
  const middle = (those: Sample[], of: keyof Sample) =>
    percentile(
      those.map((one) => one[of]),
      0.5,
    );
  const grown = (of: 'resident' | 'objects') => middle(last, of) / middle(first, of) - 1;
  return {
    resident: grown('resident'),
    objects: grown('objects'),
    handles: middle(last, 'handles') - middle(first, 'handles'),
  };
}
type Growth = ReturnType<typeof growthOf>;

const faultsOf = ({ resident, objects, handles }: Growth) => [
  ...(resident < bars.memory ? [] : [`memory grows by ${Math.round(resident * 100)} %`]),
  ...(objects < bars.memory ? [] : [`objects grow by ${Math.round(objects * 100)} %`]),
  ...(handles < bars.handles ? [] : [`${handles} handles more are open`]),
];

const row: Row = {
  name: 'soak',
  quick: false,
  onlyAlone: true,
  async run(run) {
    const seconds = run.minutes * 60;
    const postgres = await startPostgres(run, { fsync: 'off' });
    const { apiKey, env } = await twoSchools(run, postgres, 'school');
    const [node, ...rest] = watched;
    const quiet = { ...env, LOG_LEVEL: 'silent', WRONG_KEYS_PER_MINUTE: '1000000', NODE_ENV: 'production' };
    const server = await startServer(run, quiet, { command: [node!, '--expose-gc', ...rest] });
    const client = clientOf(apiKey, { sockets: 32 });
    run.afterwards(client.close);
    const { samples, took, failed, busy } = await soak(run, server, await day(client, server.base), seconds);
    // Five minutes of thirty, and of a shorter run a third.
    const growth = growthOf(samples, run.minutes >= 15 ? 5 / run.minutes : 1 / 3);

    // The negative control: a server that keeps what it should not, for half a minute.
    const leaky = [node!, '--expose-gc', '--import', './test/reliability/support/leak.js', ...rest];
    const leaking = await startServer(run, quiet, { command: leaky });
    const other = clientOf(apiKey, { sockets: 32 });
    run.afterwards(other.close);
    const control = growthOf((await soak(run, leaking, await day(other, leaking.base), 30)).samples, 1 / 3);

    const percent = (share: number) => `${share >= 0 ? '+' : ''}${(share * 100).toFixed(1)} %`;
    return {
      figures: [
        `${took.length} answers in ${run.minutes} minutes, ${Math.round(took.length / seconds)} a second`,
        `p99 ${percentile(took, 0.99).toFixed(0)} ms, ${busy} times busy`,
        `memory ${percent(growth.resident)} of ${Math.round(samples.at(-1)!.resident)} MB, objects ${percent(growth.objects)}, handles ${growth.handles}`,
        `control: objects ${percent(control.objects)}, handles ${control.handles}`,
      ].join(', '),
      faults: [
        ...faultsOf(growth),
        ...(failed === 0 ? [] : [`${failed} answers of 5xx`]),
        ...(busy <= took.length * bars.busy ? [] : [`${busy} times the service is busy`]),
        ...(faultsOf(control).length >= 2 ? [] : ['a server that leaks is not seen']),
      ],
    };
  },
};
export default row;
