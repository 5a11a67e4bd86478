import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { missingPackages } from '../cluster/support/packages.ts';
import { succeeds } from '../support/programs.ts';
import { createRunner, describeCounts, toResult } from './runner.ts';
import type { Scenario } from './scenario.ts';
import { summarizeLogs, searchLogs } from './support/secrets.ts';

const { values } = parseArgs({
  options: {
    /** Runs shortened scenarios, in about three minutes. */
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

const installation = values.cluster ? missingPackages() : undefined;
if (installation !== undefined) {
  console.error(`The cluster needs Debian packages: ${installation}`);
  process.exit(2);
}
const { results, report, runAlone, count } = createRunner({
  quick: values.quick,
  minutes: Number(values.minutes),
  seed,
});

const folder = join(import.meta.dirname, values.cluster ? '../cluster/scenarios' : 'scenarios');
for (const file of readdirSync(folder).sort()) {
  const number = /^0*(\d+[a-z]?)-/.exec(file)?.[1] ?? file;
  if (only && !only.includes(number)) continue;
  const { default: scenario } = (await import(join(folder, file))) as { default: Scenario };
  if (!only && ((values.quick && !scenario.quick) || scenario.explicitOnly)) continue;
  report({ number, name: scenario.name, ...(await runScenario(scenario)) });
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

const counts = count();
mkdirSync('test/output', { recursive: true });
writeFileSync(
  `test/output/${values.cluster ? 'cluster' : 'reliability'}.json`,
  JSON.stringify({ seed, counts, results }, null, 2),
);
console.log(describeCounts(counts));
process.exit(counts.failed === 0 ? 0 : 1);

async function runScenario(scenario: Scenario) {
  const missing = Object.entries(scenario.requires ?? {}).filter(([, command]) => !succeeds(command));
  if (missing.length === 0) return runAlone((run) => scenario.run(run));
  const packages = missing.map(([name]) => name).join(' ');
  const text = `requires ${packages}: apt-get install ${packages}`;
  return { state: 'skipped' as const, text, seconds: 0 };
}
