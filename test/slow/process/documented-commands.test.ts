import { execFile } from 'node:child_process';
import { readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { startServer, temporaryFolder } from '../../support/processes.ts';

const pages = ['README.md', ...readdirSync('docs').map((name) => `docs/${name}`)];
const blocks = pages.flatMap((page) =>
  [...readFileSync(page, 'utf8').matchAll(/```(?:sh|bash|shell)\n(.*?)```/gs)].map(([, text = '']) => ({ page, text })),
);
const prefix = 'npm run --silent cli -- ';
const commands = blocks.flatMap(({ text }) => text.split('\n').filter((line) => line.startsWith(prefix)));

/** Commands that are not run by a test, by their beginning, with the reason. */
const notRun: Record<string, string> = {
  'npm ci': 'installs the packages that the test itself runs on',
  'npm start': 'every process test starts the server',
  'npm run check': 'runs beside the tests, in CI',
  'npm run test:': 'runs beside the tests, for minutes',
  'npm run bench': 'measures for minutes',
  'npx vitest': 'updates snapshots',
  'docker compose': 'needs Docker',
  'SMTP_URL=': 'a setting',
  'MAIL_FROM=': 'a setting',
};

test('each command of the README and docs is run, or has a reason not to be', () => {
  const left = blocks.flatMap(({ page, text }) => {
    // Blocks with curl are run by documented-examples.test.ts.
    if (text.includes('curl')) return [];
    const lines = text.split('\n').filter((line) => line.trim() !== '' && !line.startsWith('#'));
    const isKnown = (line: string) => [prefix, ...Object.keys(notRun)].some((known) => line.startsWith(known));
    return lines.filter((line) => !isKnown(line)).map((line) => `${page}: ${line}`);
  });
  expect(left).toEqual([]);
});

/** Commands that need a row which the demo data has not, with what they say instead. */
const refused: Record<string, RegExp> = { [`${prefix}mail retry 17`]: /Mail 17 not found/ };

test('each cli command of the README and docs works as pasted, with the demo data', { timeout: 240_000 }, async () => {
  const [folder, dataFolder] = [temporaryFolder(), temporaryFolder()];
  const server = await startServer({ DATA_DIR: dataFolder, DEMO_DATA: 'true' });
  onTestFinished(() => void server.child.kill('SIGTERM'));
  const [, school = ''] = /```json\n(\{"kind":"location".*?)```/s.exec(readFileSync('docs/import.md', 'utf8'))!;
  writeFileSync(join(folder, 'school.ndjson'), school);
  writeFileSync(join(folder, 'customers.csv'), 'ref,title\nacme,Acme\n');
  writeFileSync(join(folder, 'password.txt'), 'eight or more\n');
  const program = `${process.execPath} ${resolve('dist/cli.js')} `;
  const env = { PATH: process.env['PATH'] ?? '', HOME: folder, DATA_DIR: dataFolder };
  const run = (command: string) =>
    new Promise<string>((done) => {
      const child = execFile('sh', ['-c', command.replace(prefix, program)], { env, cwd: folder }, (error, _, stderr) =>
        done(error ? stderr.trim() : ''),
      );
      child.stdin!.end('eight or more\n');
    });
  const failed: string[] = [];
  for (const command of new Set(commands)) {
    const said = await run(command);
    const isExpected = refused[command] ? refused[command].test(said) : said === '';
    if (!isExpected) failed.push(`${command}: ${said}`);
  }
  expect(failed).toEqual([]);
});
