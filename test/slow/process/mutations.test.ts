import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { temporaryFolder } from '../../support/processes.ts';
import { mutations } from '../../support/mutations.ts';

type Result = { name: string; assertionResults: { fullName: string; failureMessages?: string[] }[] };
let results: Result[] = [];
const folder = temporaryFolder(afterAll);

const escape = (text: string) => text.replace(/[[\](){}.*+?^$|\\]/g, '\\$&');

beforeAll(async () => {
  const outputFile = join(folder, 'results.json');
  const titles = Object.values(mutations).map(({ title }) => escape(title));
  // Without the variables of this run, which belong to its workers.
  const { PATH, HOME, TEST_DATABASE_URL } = process.env;
  await new Promise<void>((done) => {
    execFile(
      'npx',
      [
        ...['vitest', 'run', '--config', 'test/support/mutations.config.ts', '-t', titles.join('|')],
        ...['--reporter=json', `--outputFile=${outputFile}`],
      ],
      { env: { PATH, HOME, TEST_DATABASE_URL } },
      () => done(),
    );
  });
  results = (JSON.parse(readFileSync(outputFile, 'utf8')) as { testResults: Result[] }).testResults;
}, 600_000);

test.each(Object.entries(mutations))('if %s, a test fails', (_name, { file, title, says }) => {
  const [result, ...others] = results.filter(({ name }) => relative(process.cwd(), name) === file);
  expect(others).toEqual([]);
  const run = result!.assertionResults.filter(({ fullName }) => fullName.includes(title));
  expect(run.flatMap(({ failureMessages }) => failureMessages).join('\n')).toMatch(says);
});
