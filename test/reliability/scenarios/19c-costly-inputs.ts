import { failedChecks, pause, percentile, type Run, type Scenario } from '../scenario.ts';
import { costlyInputs, type CostlyInput } from '../support/costly-inputs.ts';
import { isHarmless, measureGoodClient, startGoodClient } from '../support/good-client.ts';
import { inspectServer, inspectionOptions } from '../support/inspection.ts';
import { sendRaw } from '../support/raw.ts';
import { createSchools, type School } from '../support/school.ts';
import { startServer, type Server } from '../support/server.ts';
import { bundle, replaceIn } from '../../support/bundle.ts';

/** Milliseconds: the median stall of the event loop, and the good client's p99. */
const limits = { stall: 30, p99: 100 };

const withoutBound = replaceIn('without-bound', /schema\/coercion\.ts$/, "raw.split(',', rest)", "raw.split(',')");

async function measureInputs(server: Server, inputs: CostlyInput[], rounds: number) {
  const seen: (CostlyInput & { status: number; stall: number })[] = [];
  for (const input of inputs) {
    const stalls: number[] = [];
    const statuses = new Set<number>();
    await inspectServer(server);
    for (let n = 0; n < rounds; n += 1) {
      statuses.add((await sendRaw(server.port, input.parts)).status);
      await pause(10);
      stalls.push((await inspectServer(server)).stall);
    }
    const status = [...statuses].find((one) => !input.allowed.includes(one)) ?? input.allowed[0]!;
    seen.push({ ...input, status, stall: percentile(stalls, 0.5) });
  }
  return seen;
}

const start = (run: Run, env: Record<string, string>, main: string) =>
  startServer(run, env, { command: [process.execPath, ...inspectionOptions, main] });

async function observe(server: Server, school: School, inputs: CostlyInput[], rounds: number) {
  const stop = startGoodClient(server.base, school.client);
  const seen = await measureInputs(server, inputs, rounds);
  return { seen, beside: await stop() };
}

const isLate = ({ stall }: { stall: number }) => stall > limits.stall;

const scenario: Scenario = {
  name: 'costly inputs',
  quick: false,
  async run(run) {
    const { env, first } = await createSchools(run, { parameters: { fsync: 'off' } });
    const quiet = { ...env, LOG_LEVEL: 'error' };
    const inputs = costlyInputs({ apiKey: first.client.apiKey, dateId: first.dateIds[0]! });
    const server = await start(run, quiet, 'dist/main.js');
    // Compiles schemas and code.
    await measureInputs(server, inputs, 2);
    const alone = await measureGoodClient(server.base, first.client, 1_000);
    const observed = await observe(server, first, inputs, run.quick ? 3 : 9);
    // The machine may be busy.
    const again = await measureInputs(server, observed.seen.filter(isLate), 9);
    const seen = observed.seen.map((one) => again.find(({ name }) => name === one.name) ?? one);
    const { beside } = observed;

    const unbounded = await start(run, quiet, await bundle('src/main.ts', [withoutBound]));
    const lists = inputs.filter(({ name }) => name.startsWith('a million commas'));
    const control = await observe(unbounded, first, lists, 3);
    const ms = (value: number) => `${value.toFixed(1)} ms`;
    const longest = seen.toSorted((one, other) => other.stall - one.stall)[0]!;
    return {
      figures: `${seen.length} inputs, the longest median stall ${ms(longest.stall)} (${longest.name}), p99 of another client ${ms(beside)} (${ms(alone)} alone); control, without the bound: ${control.seen.map(({ name, stall }) => `${name} ${ms(stall)}`).join(', ')}, p99 ${ms(control.beside)}`,
      failures: failedChecks({
        ...Object.fromEntries(
          seen.flatMap(({ name, allowed, status, stall }) => [
            [`${name} gets ${allowed.join(' or ')}, not ${status}`, allowed.includes(status)],
            [`${name} stalls for at most ${limits.stall} ms, not ${ms(stall)}`, stall <= limits.stall],
          ]),
        ),
        [`p99 of another client ${ms(beside)}, ${ms(alone)} alone`]: isHarmless(alone, beside, limits.p99),
        'control: without the bound each list stalls': control.seen.every(isLate),
        [`control: the other client is late (${ms(control.beside)})`]: control.beside > limits.p99,
      }),
    };
  },
};
export default scenario;
