import { Agent, request, type RequestOptions } from 'node:http';
import { failedChecks, pause, percentile, type Scenario, type Run } from '../scenario.ts';
import { createSchools, type School } from '../support/school.ts';
import { startServer, type Server } from '../support/server.ts';
import { bundle, replaceIn } from '../../support/bundle.ts';

type RequestSpec = { path: string; method?: string; headers?: Record<string, string>; body?: string };
type Attack = { name: string; connections: number; allowed: number[]; requests: RequestSpec[] };

const many = (count: number, one: (n: number) => string) => Array.from({ length: count }, (_, n) => one(n)).join('&');

/** Allowed slowdown of a request during an attack: milliseconds and factor. */
const limits = { later: 100, times: 10 };

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
      allowed: [200, 400],
      requests: [2_050, 301, 300, 2_050].map((count) => ({ path: `/live?${many(count, (n) => `a[${n}]`)}` })),
    },
    {
      name: 'OpenAPI document and docs page',
      connections: 5,
      allowed: [200, 302],
      requests: [
        { path: '/openapi.json', headers: { 'accept-encoding': 'gzip' } },
        { path: '/docs', headers: { 'accept-encoding': 'gzip' } },
        { path: '/openapi.json' },
      ],
    },
    {
      name: 'bodies with many values',
      connections: 3,
      allowed: [400, 429],
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
  name: 'one IP address floods public endpoints',
  connections: 20,
  allowed: [200, 302, 303, 404, 429],
  requests: ['/docs', '/openapi.json', '/nothing', '/my/1'].map((path) => ({ path })),
};

/** Sends requests over these connections until stopped; counts responses per status. */
function startAttack(run: Run, { port }: Server, { connections, requests }: Attack) {
  const agent = new Agent({ keepAlive: true, maxSockets: connections });
  run.onCleanup(() => agent.destroy());
  const statuses = new Map<number, number>();
  const send = ({ body, ...sent }: RequestSpec) =>
    new Promise<number>((done) => {
      const options: RequestOptions = { agent, port, host: '127.0.0.1', ...sent };
      const clientRequest = request(options, (response) => {
        response.resume().on('close', () => done(response.statusCode ?? 0));
      });
      clientRequest.on('error', () => done(0)).end(body);
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
    const { status, elapsed } = await client.get(`${base}/v2/courses?limit=10&page=${1 + (n % 3)}`);
    times.push(status === 200 ? elapsed : Infinity);
    await pause(50);
  }
  return percentile(times, 0.75);
}

async function measureAttack(run: Run, server: Server, honest: School, attack: Attack, count: number) {
  const before = await latencies(server.base, honest, count);
  const stop = startAttack(run, server, attack);
  await pause(500);
  const during = await latencies(server.base, honest, count);
  const statuses = await stop();
  return { before, during, statuses };
}
type Observation = Awaited<ReturnType<typeof measureAttack>>;

/** Allows a fifth of the control's time on a busy machine, if the control responds at all. */
const isAcceptable = ({ before, during }: Observation, control = 0) =>
  during < Math.max(limits.later + limits.times * before, Number.isFinite(control) ? control / 5 : 0);
const ms = (value: number) => `${Math.round(value)} ms`;
const describeTimes = ({ before, during }: Observation) => `${ms(before)} before, ${ms(during)} during`;

const scenario: Scenario = {
  name: 'hostile requests',
  quick: false,
  async run(run) {
    const { env, all } = await createSchools(run, { count: 2, parameters: { fsync: 'off' } });
    const [honest, attacker] = all as [School, School];
    const quiet = { ...env, LOG_LEVEL: 'error' };
    const unlimitedServer = await startServer(run, quiet);
    const limited = await startServer(run, { ...quiet, PUBLIC_REQUESTS_PER_MINUTE: '600' });
    const parse = 'parse(replaceInvalidUtf8(text))';
    const costlyForms = replaceIn(
      'costly-forms',
      /parsing\/forms\.ts$/,
      parse,
      `(readInQuadraticTime(text), ${parse})`,
    );
    const command = [process.execPath, await bundle('test/reliability/support/costly-server.ts', [costlyForms])];
    const costly = await startServer(run, quiet, { command });
    const count = run.quick ? 12 : 60;
    const figures: string[] = [];
    const failures: string[] = [];

    const countStatus = ({ statuses }: Observation, status: number) => statuses.get(status) ?? 0;
    const totalOf = ({ statuses }: Observation) => [...statuses.values()].reduce((sum, one) => sum + one, 0);

    for (const attack of attacks(attacker.client.apiKey)) {
      const seen = await measureAttack(run, unlimitedServer, honest, attack, count);
      const control = await measureAttack(run, costly, honest, attack, run.quick ? 1 : 3);
      const others = [...seen.statuses.keys()].filter((status) => !attack.allowed.includes(status));
      failures.push(
        ...failedChecks({
          [`${attack.name} slow other requests only a little: ${describeTimes(seen)}`]: isAcceptable(
            seen,
            control.during,
          ),
          [`${attack.name} do not get ${others.join(', ')}`]: others.length === 0,
          [`control: an expensive server is detected: ${describeTimes(control)}`]: control.during > 3 * seen.during,
        }),
      );
      figures.push(
        `${attack.name}: ${totalOf(seen)} responses, ${describeTimes(seen)} (control: ${describeTimes(control)})`,
      );
    }

    const seen = await measureAttack(run, limited, honest, flood, count);
    const unlimited = await measureAttack(run, unlimitedServer, honest, flood, count);
    const [passed, refused] = [totalOf(seen) - countStatus(seen, 429), countStatus(seen, 429)];
    failures.push(
      ...failedChecks({
        [`${flood.name}, other requests: ${describeTimes(seen)}`]: isAcceptable(seen),
        [`at most 1,200 requests of one IP address pass, not ${passed}`]: passed <= 2 * 600,
        'the rest gets 429': refused > 0 && [...seen.statuses.keys()].every((one) => flood.allowed.includes(one)),
        'without a limit no request gets 429': countStatus(unlimited, 429) === 0 && totalOf(unlimited) > 600,
      }),
    );
    figures.push(`${flood.name}: ${passed} passed, ${refused} rejected, ${describeTimes(seen)}`);
    return { figures: figures.join('; '), failures };
  },
};
export default scenario;
