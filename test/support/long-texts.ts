import { existsSync, readFileSync } from 'node:fs';
import type { Database } from '../../src/database/client.ts';

type Pool = Database['pool'];

/** Makes a text of so many UTF-16 units. */
export type MakeText = (length: number) => string;

const filled =
  (unit: string): MakeText =>
  (length) =>
    `x${unit.repeat(length).slice(0, Math.max(0, length - 2))}x`;

export const letters = filled('ab');

/** Texts that patterns, normalization and searches could take long for. */
export const kinds: [name: string, make: MakeText][] = [
  ['blanks', filled(' ')],
  ['tabs', filled('\t')],
  ['line breaks', filled('\n')],
  ['U+200B', filled('\u200b')],
  ['U+00AD', filled('\u00ad')],
  ['brackets', filled('(')],
  ['brackets after blanks', (length) => `x (${' '.repeat(Math.max(0, length - 4))}x`],
  ['combining marks', filled('\u0301\u0323')],
  ['half-width marks', filled('\u0301\uff9e')],
  ['digits', filled('1')],
  ['commas', filled(',')],
  ['hyphens', filled('-')],
  ['dots', filled('.')],
  ['slashes', filled('/')],
];

/** Those that a header may have: characters of Latin-1 without line breaks. */
export const headerKinds: typeof kinds = [
  ...kinds.filter(([, make]) => /^[\t\x20-\xff]*$/.test(make(10))),
  ['semicolons', filled(';')],
  ['quotes', filled('"')],
  ['escaped quotes', filled('\\"')],
  ['equals signs', filled('=')],
  ['colons', filled(':')],
  ['qualities', filled(',x;q=0')],
];

const maxRatio = 3;
/** What the clock and the garbage collector add. */
const noiseMs = 5;

const isTooDear = (cost: number, ofLetters: number, noise = noiseMs) => cost > maxRatio * ofLetters + noise;

/** The time of a processor that this process needs for the work. */
export async function measureCpu(work: () => Promise<unknown>): Promise<number> {
  const since = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(since);
  return (user + system) / 1_000;
}

/** Adds the sessions of the database to `measureCpu`. */
export async function measureCpuWithDatabase(pool: Pool, work: () => Promise<unknown>) {
  const before = await readDatabaseCpu(pool);
  const own = await measureCpu(work);
  return own + (await readDatabaseCpu(pool)) - before;
}

/** Milliseconds, in steps of 10. */
async function readDatabaseCpu(pool: Pool) {
  const { rows } = await pool.query<{ pid: number }>(
    "select pid from pg_stat_activity where datname = current_database() and backend_type = 'client backend'",
  );
  // A session may have ended meanwhile.
  const ticks = rows.map(({ pid }) => {
    const file = `/proc/${pid}/stat`;
    const [, fields] = existsSync(file) ? readFileSync(file, 'utf8').split(') ') : [];
    if (fields === undefined) return 0;
    const [user, system] = fields.split(' ').slice(11, 13).map(Number);
    return user! + system!;
  });
  return ticks.reduce((sum, each) => sum + each, 0) * 10;
}

/**
 * The texts that cost more than the limit, each compared with letters of the same length. A cost is the least of several,
 * as long as it is too high.
 */
export async function findDearKinds(
  measure: (make: MakeText, ofKind: MakeText) => Promise<number>,
  { noise = noiseMs, isSameLength = true, of = kinds } = {},
) {
  await measure(letters, letters);
  const found: string[] = [];
  let known = await measure(letters, letters);
  for (const [name, make] of of) {
    let ofLetters = isSameLength ? known : await measure(letters, make);
    let cost = await measure(make, make);
    for (let n = 0; n < 3 && isTooDear(cost, ofLetters, noise); n += 1) {
      ofLetters = Math.min(ofLetters, await measure(letters, make));
      if (isTooDear(cost, ofLetters, noise) && cost < 2_000) cost = Math.min(cost, await measure(make, make));
    }
    known = Math.min(known, ofLetters);
    if (isTooDear(cost, ofLetters, noise))
      found.push(`${name}: ${cost.toFixed(1)} ms, letters ${ofLetters.toFixed(1)} ms`);
  }
  return found;
}
