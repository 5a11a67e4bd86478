import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { missingPackages } from '../cluster/support/packages.ts';
import { succeeds } from '../support/programs.ts';
import type { Outcome, Scenario, Run } from './scenario.ts';
import { loggedErrors, summarizeLogs, searchLogs } from './support/secrets.ts';

const { values } = parseArgs({
  options: {
    /** Runs shortened scenarios, in about nine minutes. */
    quick: { type: 'boolean', default: false },
    /** Comma-separated scenario numbers. */
    only: { type: 'string' },
    seed: { type: 'string' },
    /** Duration of the soak test. */
    minutes: { type: 'string', default: '30' },
    /** Runs the scenarios of a cluster instead, which need Debian packages. */
    cluster: { type: 'boolean', default: false },
  },
});
const seed = Number(values.seed ?? Math.floor(Math.random() * 2 ** 31));
const only = values.only?.split(',');

type Result = { number: string; name: string; state: 'passed' | 'failed' | 'skipped'; text: string; seconds: number };

const installation = values.cluster ? missingPackages() : undefined;
if (installation !== undefined) {
  console.error(`The cluster needs Debian packages: ${installation}`);
  process.exit(2);
}
const cleanups: (() => unknown)[] = [];
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => void endBy(signal));

const folder = join(import.meta.dirname, values.cluster ? '../cluster/scenarios' : 'scenarios');
const results: Result[] = [];
for (const file of readdirSync(folder).sort()) {
  const number = /^0*(\d+[a-z]?)-/.exec(file)?.[1] ?? file;
  if (only && !only.includes(number)) continue;
  const { default: scenario } = (await import(join(folder, file))) as { default: Scenario };
  if (!only && ((values.quick && !scenario.quick) || scenario.explicitOnly)) continue;
  const result = await runScenario(scenario);
  report({ number, name: scenario.name, ...result });
  if (result.state === 'failed') for (const line of loggedErrors()) console.log(line);
  searchLogs();
}
const logs = summarizeLogs();
if (logs) report({ number: '-', name: 'secrets', ...toResult(logs), seconds: 0 });

const unknownNumbers = (only ?? []).filter((number) => !results.some((result) => result.number === number));
if (unknownNumbers.length > 0) {
  console.error(`Unknown scenario ${unknownNumbers.join(', ')}`);
  process.exit(2);
}
console.log(`${Math.round(results.reduce((sum, { seconds }) => sum + seconds, 0))} s in total`);

const count = (state: string) => results.filter((result) => result.state === state).length;
const counts = { passed: count('passed'), failed: count('failed'), skipped: count('skipped') };
mkdirSync('test/output', { recursive: true });
writeFileSync(
  `test/output/${values.cluster ? 'cluster' : 'reliability'}.json`,
  JSON.stringify({ seed, counts, results }, null, 2),
);
const skipped = counts.skipped > 0 ? `, ${counts.skipped} skipped` : '';
console.log(`${counts.passed} passed, ${counts.failed} failed${skipped}`);
process.exit(counts.failed === 0 ? 0 : 1);

function report(result: Result) {
  results.push(result);
  const { state, number, name, seconds, text } = result;
  const mark = { passed: '✓', failed: '✗', skipped: '-' }[state];
  console.log(`${mark} ${number} ${name} (${seconds} s, seed ${seed}): ${text}`);
}

async function runScenario(scenario: Scenario): Promise<Omit<Result, 'number' | 'name'>> {
  const missing = Object.entries(scenario.requires ?? {}).filter(([, command]) => !succeeds(command));
  if (missing.length > 0) {
    const packages = missing.map(([name]) => name).join(' ');
    return { state: 'skipped', text: `requires ${packages}: apt-get install ${packages}`, seconds: 0 };
  }
  const startedAt = performance.now();
  const run: Run = {
    quick: values.quick,
    minutes: Number(values.minutes),
    seed,
    random: seededRandom(seed),
    onCleanup: (work) => void cleanups.unshift(work),
  };
  const outcome = await scenario.run(run).catch((error: unknown): Outcome => {
    return {
      figures: 'aborted',
      failures: [error instanceof Error ? (error.stack ?? error.message) : String(error)],
    };
  });
  outcome.failures.push(...(await cleanUp()));
  const seconds = Math.round(performance.now() - startedAt) / 1_000;
  return { ...toResult(outcome), seconds };
}

/** Ends and removes what the scenario has started; returns the errors. */
async function cleanUp() {
  const errors: string[] = [];
  for (let cleanup = cleanups.shift(); cleanup; cleanup = cleanups.shift()) {
    try {
      await cleanup();
    } catch (error) {
      errors.push(String(error));
    }
  }
  return errors;
}

async function endBy(signal: NodeJS.Signals) {
  await cleanUp();
  process.kill(process.pid, signal);
}

function toResult({ figures, failures, skipped }: Outcome): Pick<Result, 'state' | 'text'> {
  if (failures.length > 0) {
    return { state: 'failed', text: [figures, ...failures.map((failure) => `failed: ${failure}`)].join('; ') };
  }
  if (skipped !== undefined) return { state: 'skipped', text: `${figures}; ${skipped}` };
  return { state: 'passed', text: figures };
}

/** Seeded pseudorandom numbers (mulberry32). */
function seededRandom(start: number) {
  let state = start;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
