import { Agent, request, type RequestOptions } from 'node:http';
import { faultsOf, pause, percentile, type Row, type Run } from '../row.ts';
import { makeSchools, type School } from '../support/school.ts';
import { startServer, type Server } from '../support/server.ts';
import { bundle } from '../../support/bundle.ts';

type Sent = { path: string; method?: string; headers?: Record<string, string>; body?: string };
type Attack = { name: string; connections: number; may: number[]; requests: Sent[] };

const many = (count: number, one: (n: number) => string) => Array.from({ length: count }, (_, n) => one(n)).join('&');

/** Allowed slowdown of a request during an attack: milliseconds and factor. */
const bars = { later: 100, times: 10 };

const attacks = (key: string): Attack[] => {
  const form = { 'x-api-key': key, 'content-type': 'application/x-www-form-urlencoded' };
  const json = { 'x-api-key': key, 'content-type': 'application/json' };
  const post = (headers: Record<string, string>, body: string) => ({
    path: '/v2/courses',
    method: 'POST',
    headers,
    body,
  });
  return [
    {
      name: 'queries of 300 to 2,050 parameters',
      connections: 6,
      may: [200, 400],
      requests: [2_050, 301, 300, 2_050].map((count) => ({ path: `/live?${many(count, (n) => `a[${n}]`)}` })),
    },
    {
      name: 'the description and its page',
      connections: 5,
      may: [200, 302],
      requests: [
        { path: '/openapi.json', headers: { 'accept-encoding': 'gzip' } },
        { path: '/docs', headers: { 'accept-encoding': 'gzip' } },
        { path: '/openapi.json' },
      ],
    },
    {
      name: 'bodies of many values',
      connections: 3,
      may: [400, 429],
      requests: [
        post(
          form,
          many(5_000, (n) => `a${n % 5}=1`),
        ),
        post(
          form,
          many(5_000, (n) => `a${n % 5}[]=1`),
        ),
        post(
          form,
          many(5_000, (n) => `a[b][c][d][e][${n}]=1`),
        ),
        post(json, JSON.stringify({ tags: Array(400_000).fill(1) })),
        post(json, JSON.stringify(Object.fromEntries(Array.from({ length: 49_000 }, (_, n) => [`a${n}`, n])))),
      ],
    },
  ];
};

const flood: Attack = {
  name: 'one address floods what needs no key',
  connections: 20,
  may: [200, 302, 303, 404, 429],
  requests: ['/docs', '/openapi.json', '/ready', '/my/1'].map((path) => ({ path })),
};

/** Sends requests over these connections until stopped; counts responses per status. */
function start(run: Run, { port }: Server, { connections, requests }: Attack) {
  const agent = new Agent({ keepAlive: true, maxSockets: connections });
  run.afterwards(() => agent.destroy());
  const statuses = new Map<number, number>();
  const send = ({ body, ...sent }: Sent) =>
    new Promise<number>((done) => {
      const options: RequestOptions = { agent, port, host: '127.0.0.1', ...sent };
      const asked = request(options, (answer) => {
        answer.resume().on('close', () => done(answer.statusCode ?? 0));
      });
      asked.on('error', () => done(0)).end(body);
    });
  let isOver = false;
  const sending = Array.from({ length: connections }, async (_, n) => {
    for (let at = n; !isOver; at += 1) {
      const status = await send(requests[at % requests.length]!);
      statuses.set(status, (statuses.get(status) ?? 0) + 1);
      // Measures the server, not this process's send rate.
      await pause(5);
    }
  });
  return async () => {
    isOver = true;
    await Promise.all(sending);
    agent.destroy();
    return statuses;
  };
}

/** Latencies of an honest client that sends a request every 50 ms. */
async function latencies(base: string, { client }: School, count: number) {
  const times: number[] = [];
  for (let n = 0; n < count; n += 1) {
    const { status, took } = await client.get(`${base}/v2/courses?limit=10&page=${1 + (n % 3)}`);
    times.push(status === 200 ? took : Infinity);
    await pause(50);
  }
  return percentile(times, 0.75);
}

async function attacked(run: Run, server: Server, honest: School, attack: Attack, count: number) {
  const before = await latencies(server.base, honest, count);
  const stop = start(run, server, attack);
  await pause(500);
  const during = await latencies(server.base, honest, count);
  const statuses = await stop();
  return { before, during, statuses };
}
type Seen = Awaited<ReturnType<typeof attacked>>;

/** Allows a fifth of the control's time on a busy machine, if the control responds at all. */
const isNear = ({ before, during }: Seen, control = 0) =>
  during < Math.max(bars.later + bars.times * before, Number.isFinite(control) ? control / 5 : 0);
const ms = (value: number) => `${Math.round(value)} ms`;
const describeTimes = ({ before, during }: Seen) => `${ms(before)} before, ${ms(during)} during`;

const row: Row = {
  name: 'hostile requests',
  quick: true,
  async run(run) {
    const { env, all } = await makeSchools(run, { count: 2, parameters: { fsync: 'off' } });
    const [honest, attacker] = all as [School, School];
    const quiet = { ...env, LOG_LEVEL: 'error' };
    const open = await startServer(run, quiet);
    const limited = await startServer(run, { ...quiet, PUBLIC_REQUESTS_PER_MINUTE: '600' });
    const command = [process.execPath, await bundle('test/reliability/support/costly-server.ts')];
    const costly = await startServer(run, quiet, { command });
    const count = run.quick ? 12 : 60;
    const figures: string[] = [];
    const faults: string[] = [];

    const answersOf = ({ statuses }: Seen, status: number) => statuses.get(status) ?? 0;
    const totalOf = ({ statuses }: Seen) => [...statuses.values()].reduce((sum, one) => sum + one, 0);

    for (const attack of attacks(attacker.client.apiKey)) {
      const seen = await attacked(run, open, honest, attack, count);
      const control = await attacked(run, costly, honest, attack, 3);
      const others = [...seen.statuses.keys()].filter((status) => !attack.may.includes(status));
      faults.push(
        ...faultsOf({
          [`${attack.name} leave a request near ${ms(seen.before)}, not ${ms(seen.during)}`]: isNear(
            seen,
            control.during,
          ),
          [`${attack.name} are not answered by ${others.join(', ')}`]: others.length === 0,
          [`where they cost much the look finds it: ${describeTimes(control)}`]: control.during > 3 * seen.during,
        }),
      );
      figures.push(
        `${attack.name}: ${totalOf(seen)} answers, ${describeTimes(seen)} (control: ${describeTimes(control)})`,
      );
    }

    const seen = await attacked(run, limited, honest, flood, count);
    const unlimited = await attacked(run, open, honest, flood, count);
    const [passed, refused] = [totalOf(seen) - answersOf(seen, 429), answersOf(seen, 429)];
    faults.push(
      ...faultsOf({
        [`${flood.name}, and a request takes ${ms(seen.during)} instead of ${ms(seen.before)}`]: isNear(seen),
        [`of one address's requests no ${passed} are answered`]: passed <= 2 * 600,
        'the rest is refused with 429':
          refused > 0 && [...seen.statuses.keys()].every((one) => flood.may.includes(one)),
        'without a limit none is refused': answersOf(unlimited, 429) === 0 && totalOf(unlimited) > 600,
      }),
    );
    figures.push(`${flood.name}: ${passed} answered, ${refused} refused, ${describeTimes(seen)}`);
    return { figures: figures.join('; '), faults };
  },
};
export default row;
