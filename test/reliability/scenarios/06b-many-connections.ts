import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import type { Plugin } from 'esbuild';
import { bundle, replaceIn } from '../../support/bundle.ts';
import { failedChecks, pause, percentile, type Run, type Scenario } from '../scenario.ts';
import { createClient } from '../support/client.ts';
import { createSchools, type Schools } from '../support/school.ts';
import { startServer, type Server } from '../support/server.ts';

type Flood = {
  kind: 'lists' | 'wrong keys';
  /** The latency of the known key that counts. */
  latency: (times: number[]) => number;
  /** Its limit in milliseconds. */
  limitMs: number;
  withoutGuard: Plugin[];
};

const mean = (times: number[]) => times.reduce((sum, time) => sum + time, 0) / times.length;

const floods: Flood[] = [
  {
    kind: 'lists',
    latency: (times) => Math.max(...times),
    limitMs: 1_000,
    withoutGuard: [
      replaceIn('at-once', /http\/backlog-scheduler\.ts$/, 'if (isDrained) start();', 'if (start) start();'),
    ],
  },
  {
    kind: 'wrong keys',
    latency: mean,
    limitMs: 25,
    withoutGuard: [
      replaceIn('at-once', /http\/pipelining\.ts$/, "isKnownKey(request.headers['x-api-key'])", 'isKnownKey'),
      replaceIn('unlimited', /auth\/key-lookup\.ts$/, 'slots: 2,', 'slots: 1_000,'),
    ],
  },
];

const connections = 250;

const scenario: Scenario = {
  name: 'a known key beside 250 connections',
  quick: false,
  async run(run) {
    const schools = await createSchools(run, { count: 2, parameters: { fsync: 'off' } });
    const seconds = run.quick ? 3 : 8;
    const figures: string[] = [];
    const failures: string[] = [];
    await fillSchool(run, schools);
    for (const flood of floods) {
      const command = [process.execPath, await bundle('src/main.ts', flood.withoutGuard)];
      const compare = async () => ({
        flood,
        seen: await observe(run, schools, flood, seconds),
        control: await observe(run, schools, flood, seconds, command),
      });
      let compared = await compare();
      // A quick run measures some 100 requests.
      for (let more = 2; more > 0 && findFailures(compared).length > 0; more -= 1) compared = await compare();
      figures.push(`${flood.kind}: ${describe(compared.seen)} (control: ${describe(compared.control)})`);
      failures.push(...findFailures(compared));
    }
    return { figures: figures.join('; '), failures };
  },
};
export default scenario;

type Comparison = { flood: Flood; seen: Observation; control: Observation };

const findFailures = ({ flood: { kind, limitMs }, seen, control }: Comparison) =>
  failedChecks({
    // A busy machine slows both.
    [`${kind}: ${describe(seen)}`]: seen.latency <= Math.max(limitMs, control.latency / 3),
    [`${kind}: no request of the known key fails (${seen.failed})`]: seen.failed === 0,
    [`control of ${kind}: ${describe(control)}`]: control.latency > 1.5 * seen.latency,
  });

/** Gives the second school lists that cost tens of milliseconds. */
async function fillSchool(run: Run, { all, env }: Schools) {
  const server = await startServer(run, env);
  const course = { text_description: 'x'.repeat(2_000) };
  for (let n = 0; n < 250; n += 1)
    await all[1]!.client.post(`${server.base}/v2/courses`, { ...course, title: `Course ${n}` });
  await end(server);
}

async function end(server: Server) {
  server.signal('SIGKILL');
  await server.ended;
}

/** Latency of a school whose requests come over a new connection each, from the start of the flood on. */
async function observe(run: Run, { all, env }: Schools, { kind, latency }: Flood, seconds: number, command?: string[]) {
  const server = await startServer(run, env, command && { command });
  const [victim, attacker] = [all[0]!.client.apiKey, all[1]!.client.apiKey];
  const before = await measure(server, victim, 1);
  const program = await bundle('test/reliability/support/flooding-client.ts');
  const child = spawn(process.execPath, [program, String(server.port), String(connections), kind, attacker], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  run.onCleanup(() => child.kill('SIGKILL'));
  const output = text(child.stdout);
  const beside = await measure(server, victim, seconds);
  child.stdin.end();
  await once(child, 'exit');
  await end(server);
  return {
    latency: latency(beside.times),
    alone: percentile(before.times, 0.5),
    failed: beside.failed,
    count: beside.times.length,
    responses: await output,
  };
}

type Observation = Awaited<ReturnType<typeof observe>>;

const describe = ({ latency, alone, count, responses }: Observation) =>
  `${Math.round(latency)} ms (median alone ${Math.round(alone)} ms), ${count} requests beside ${responses.trim()}`;

/** Some at a time: one that waits must not keep others from being measured. */
async function measure({ base }: Server, key: string, seconds: number) {
  const times: number[] = [];
  let failed = 0;
  const endAt = performance.now() + seconds * 1_000;
  const send = async () => {
    while (performance.now() < endAt) {
      const client = createClient(key);
      const { status, elapsed } = await client.get(`${base}/v2/courses?limit=10`);
      client.close();
      times.push(elapsed);
      if (status !== 200) failed += 1;
      await pause(20);
    }
  };
  await Promise.all([send(), send(), send()]);
  return { times, failed };
}
