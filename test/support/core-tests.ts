/** Runs the tests of the core without any plugin, or with `--each` without each one: those that neither import nor request one. */
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { pluginNames } from './plugin-list.ts';

/** Paths of the routes of plugins. */
const requests = /['"`/](my|docs|metrics|catalog|catalog-settings|interests|mails|webhooks|llms\.txt)\b/;
const read = (file: string) => readFileSync(file, 'utf8');

const known = new Map<string, boolean>();
function importsPlugin(file: string): boolean {
  if (file.startsWith('src/') || !existsSync(file)) return file.startsWith('src/plugins/');
  const found = known.get(file);
  if (found !== undefined) return found;
  known.set(file, false);
  const imported = [...read(file).matchAll(/(?:from|import\() ?'(\.[^']+)'/g)].map(([, to]) =>
    join(dirname(file), to!),
  );
  const imports = imported.some(importsPlugin);
  known.set(file, imports);
  return imports;
}

const files = readdirSync('test/api', { recursive: true, encoding: 'utf8' })
  .map((file) => join('test/api', file))
  .filter((file) => file.endsWith('.test.ts') && !importsPlugin(file) && !requests.test(read(file)));
const runs = process.argv.includes('--each') ? pluginNames.map((name) => [name]) : [pluginNames];
const output = 'test/output/plugins.json';
type Report = { testResults: { status: string }[]; numPassedTests: number; numFailedTests: number };

function summarize(): string {
  if (!existsSync(output)) return 'the run ended without a report';
  const { testResults, numPassedTests, numFailedTests } = JSON.parse(read(output)) as Report;
  const failedFiles = testResults.filter(({ status }) => status === 'failed').length;
  return `${testResults.length} files, ${failedFiles} with failures; ${numPassedTests} tests passed, ${numFailedTests} failed`;
}

const summaries: string[] = [];
for (const removed of runs) {
  const title = `Without ${removed.join(', ')}`;
  console.log(title);
  rmSync(output, { force: true });
  const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${output}`];
  const { status } = spawnSync(
    'npx',
    ['vitest', 'run', '--config', 'test/vitest.config.ts', '--project', 'fast', ...reporters, ...files],
    {
      stdio: 'inherit',
      env: { ...process.env, WITHOUT_PLUGINS: removed.join() },
    },
  );
  if (status !== 0) process.exitCode = 1;
  summaries.push(`${title}: ${summarize()}`);
}
console.log(summaries.join('\n'));
