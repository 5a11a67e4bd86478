import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { succeeds } from '../support/programs.ts';
import type { Outcome, Row, Run } from './row.ts';
import { errorsLogged, lookAtLogs, searchLogs } from './support/secrets.ts';

const { values } = parseArgs({
  options: {
    /** Runs shortened scenarios, in about nine minutes. */
    quick: { type: 'boolean', default: false },
    /** Comma-separated scenario numbers. */
    only: { type: 'string' },
    seed: { type: 'string' },
    /** Duration of the soak test. */
    minutes: { type: 'string', default: '30' },
  },
});
const seed = Number(values.seed ?? Math.floor(Math.random() * 2 ** 31));
const only = values.only?.split(',');

type Result = { number: string; name: string; state: 'passed' | 'failed' | 'skipped'; text: string; seconds: number };

const folder = join(import.meta.dirname, 'rows');
const results: Result[] = [];
for (const file of readdirSync(folder).sort()) {
  const number = /^0*(\d+[a-z]?)-/.exec(file)?.[1] ?? file;
  if (only && !only.includes(number)) continue;
  const { default: row } = (await import(join(folder, file))) as { default: Row };
  if (!only && ((values.quick && !row.quick) || row.onlyAlone)) continue;
  const result = await tried(row);
  say({ number, name: row.name, ...result });
  if (result.state === 'failed') for (const line of errorsLogged()) console.log(line);
  searchLogs();
}
const logs = lookAtLogs();
if (logs) say({ number: '-', name: 'secrets', ...judged(logs), seconds: 0 });

const unknown = (only ?? []).filter((number) => !results.some((result) => result.number === number));
if (unknown.length > 0) {
  console.error(`There is no row ${unknown.join(', ')}`);
  process.exit(2);
}
console.log(`${Math.round(results.reduce((sum, { seconds }) => sum + seconds, 0))} s in all`);

const count = (state: string) => results.filter((result) => result.state === state).length;
const counts = { passed: count('passed'), failed: count('failed'), skipped: count('skipped') };
mkdirSync('test/output', { recursive: true });
writeFileSync('test/output/reliability.json', JSON.stringify({ seed, counts, results }, null, 2));
const skipped = counts.skipped > 0 ? `, ${counts.skipped} skipped` : '';
console.log(`${counts.passed} passed, ${counts.failed} failed${skipped}`);
process.exit(counts.failed === 0 ? 0 : 1);

function say(result: Result) {
  results.push(result);
  const { state, number, name, seconds, text } = result;
  const mark = { passed: '✓', failed: '✗', skipped: '-' }[state];
  console.log(`${mark} ${number} ${name} (${seconds} s, seed ${seed}): ${text}`);
}

async function tried(row: Row): Promise<Omit<Result, 'number' | 'name'>> {
  const missing = Object.entries(row.needs ?? {}).filter(([, command]) => !succeeds(command));
  if (missing.length > 0) {
    const packages = missing.map(([name]) => name).join(' ');
    return { state: 'skipped', text: `needs ${packages}: apt-get install ${packages}`, seconds: 0 };
  }
  const begun = performance.now();
  const endings: (() => unknown)[] = [];
  const run: Run = {
    quick: values.quick,
    minutes: Number(values.minutes),
    seed,
    random: randomFrom(seed),
    afterwards: (work) => void endings.unshift(work),
  };
  const outcome = await row.run(run).catch((error: unknown): Outcome => {
    return { figures: 'broke off', faults: [error instanceof Error ? (error.stack ?? error.message) : String(error)] };
  });
  for (const end of endings) await Promise.resolve(end()).catch((error: unknown) => outcome.faults.push(String(error)));
  const seconds = Math.round(performance.now() - begun) / 1_000;
  return { ...judged(outcome), seconds };
}

function judged({ figures, faults, skipped }: Outcome): Pick<Result, 'state' | 'text'> {
  if (faults.length > 0) {
    return { state: 'failed', text: [figures, ...faults.map((fault) => `does not hold: ${fault}`)].join('; ') };
  }
  if (skipped !== undefined) return { state: 'skipped', text: `${figures}; ${skipped}` };
  return { state: 'passed', text: figures };
}

/** Seeded pseudorandom numbers (mulberry32). */
function randomFrom(start: number) {
  let state = start;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
