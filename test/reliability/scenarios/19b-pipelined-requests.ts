import type { Plugin } from 'esbuild';
import { failedChecks, pause, percentile, type Run, type Scenario } from '../scenario.ts';
import { startFlood, type Flood } from '../support/flood.ts';
import { createSchools, type School } from '../support/school.ts';
import { startServer, type Server } from '../support/server.ts';
import { bundle, replaceIn } from '../../support/bundle.ts';

/** The good client's p90 beside a flood in milliseconds, and as a multiple of its own alone; the least of some turns. */
const limits = { later: 25, times: 3 };

const floods: (Flood & { name: string })[] = [
  { name: '2,000 GET /live in one write', connections: 10, count: 2_000, path: '/live' },
  { name: 'eight requests for an unknown path, again and again', connections: 10, count: 8, path: '/nothing' },
  { name: 'eight requests for /my, again and again', connections: 10, count: 8, path: '/my' },
  { name: 'eight requests for an undecodable path, again and again', connections: 10, count: 8, path: '/v2/%zz' },
];

const withoutGuard: Plugin = {
  name: 'without-pipelining-guard',
  setup({ onLoad }) {
    onLoad({ filter: /http\/pipelining\.ts$/ }, () => ({
      contents: 'export const countedMessages = {}; export const yieldBetweenRequests = () => undefined;',
    }));
  },
};

const withoutCount = replaceIn(
  'without-count-by-address',
  /auth\/address-limit\.ts$/,
  'return !limit.isAllowed && limit.isExceeded ? limit.ttlInSeconds : null',
  'return null',
);
/** Requests without a key of an address. */
const perMinute = 600;

/** Latencies of a good client that sends a request every 10 ms. */
async function measure({ base }: Server, { client }: School, seconds: number) {
  const times: number[] = [];
  const end = performance.now() + seconds * 1_000;
  while (performance.now() < end) {
    const { status, elapsed } = await client.get(`${base}/v2/courses?limit=10`);
    times.push(status === 200 ? elapsed : Infinity);
    await pause(10);
  }
  return percentile(times, 0.9);
}

type Observation = { alone: number; beside: number; connections: number; responses: number; refused: number };

/** Alone and beside the flood in turns: other programs can only lengthen a turn, a missing guard lengthens each. */
async function observe(run: Run, server: Server, school: School, flood: Flood, turns: number): Promise<Observation> {
  await measure(server, school, 0.5);
  const all: Observation[] = [];
  for (let n = 0; n < turns; n += 1) {
    const alone = await measure(server, school, 1);
    const stop = await startFlood(run, server, flood);
    await pause(500);
    const beside = await measure(server, school, 1);
    all.push({ alone, beside, ...(await stop()) });
  }
  const least = (name: 'alone' | 'beside') => Math.min(...all.map((one) => one[name]));
  const sum = (name: 'connections' | 'responses' | 'refused') => all.reduce((total, one) => total + one[name], 0);
  return {
    ...{ alone: least('alone'), beside: least('beside') },
    ...{ connections: sum('connections'), responses: sum('responses'), refused: sum('refused') },
  };
}

const isHarmless = ({ alone, beside }: Observation) => beside <= Math.max(limits.times * alone, limits.later);
/** An observation may lie in two minutes. */
const isLimited = ({ responses, refused }: Observation) => responses - refused <= 2 * perMinute;
const describe = ({ alone, beside, connections, responses, refused }: Observation) =>
  `p90 ${alone.toFixed(1)} ms alone, ${beside.toFixed(1)} ms beside ${connections} connections and ${responses} responses, ${refused} of them 429`;

const scenario: Scenario = {
  name: 'pipelined requests',
  quick: false,
  async run(run) {
    const { env, first } = await createSchools(run, { parameters: { fsync: 'off' } });
    const limited = { ...env, PUBLIC_REQUESTS_PER_MINUTE: String(perMinute) };
    const server = await startServer(run, limited);
    const startWithout = async (protection: Plugin) => {
      const program = await bundle('test/reliability/support/plain-server.ts', [protection]);
      return startServer(run, limited, { command: [process.execPath, program] });
    };
    const unguarded = await startWithout(withoutGuard);
    const uncounted = await startWithout(withoutCount);
    const turns = run.quick ? 2 : 6;
    const figures: string[] = [];
    const failures: string[] = [];

    async function checkGuard(flood: Flood, seen: Observation) {
      const control = await observe(run, unguarded, first, flood, Math.min(turns, 3));
      figures.push(`without the guard: ${describe(control)}`);
      return {
        'a closed connection gets no response': seen.responses === 0,
        [`control: ${describe(control)}`]: !isHarmless(control),
      };
    }

    async function checkCount(flood: Flood, seen: Observation) {
      const control = { responses: 0, refused: 0 };
      // A busy machine takes longer.
      for (let n = 0; n < 10 && control.responses <= perMinute; n += 1) {
        const stop = await startFlood(run, uncounted, flood);
        await pause(2_000);
        const { responses, refused } = await stop();
        control.responses += responses;
        control.refused += refused;
      }
      const found = `without the count: ${control.responses} responses, ${control.refused} of them 429`;
      figures.push(found);
      return {
        [`above the limit each response is 429: ${describe(seen)}`]: isLimited(seen) && seen.refused > 0,
        [found]: control.responses > perMinute && control.refused === 0,
      };
    }

    for (const flood of floods) {
      const seen = await observe(run, server, first, flood, turns);
      failures.push(...failedChecks({ [`${flood.name}: ${describe(seen)}`]: isHarmless(seen) }));
      figures.push(`${flood.name}: ${describe(seen)}`);
      failures.push(...failedChecks(flood.count > 10 ? await checkGuard(flood, seen) : await checkCount(flood, seen)));
    }
    return { figures: figures.join('; '), failures };
  },
};
export default scenario;
