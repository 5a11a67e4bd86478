/** Prints the counts of these reports, of vitest or of the reliability run, as the last line of a pipeline. */
import { existsSync, readFileSync } from 'node:fs';

const reports = process.argv
  .slice(2)
  .filter((file) => existsSync(file))
  .map((file) => JSON.parse(readFileSync(file, 'utf8')));
const counts = reports.map(
  (report) =>
    report.counts ?? {
      passed: report.numPassedTests,
      failed: report.numFailedTests,
      skipped: report.numPendingTests,
    },
);
const sum = (name) => counts.reduce((total, count) => total + count[name], 0);
console.log(`${sum('passed')} passed, ${sum('failed')} failed, ${sum('skipped')} skipped`);
