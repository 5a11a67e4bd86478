import { execFile } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { demoDatabase } from '../../support/demo-database.ts';
import { pages } from '../../support/documented-samples.ts';
import { databaseUrl, startServer, temporaryFolder } from '../../support/processes.ts';

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
  'npm run client': 'check:client runs it, in CI',
  'npm run examples': 'changes recorded examples; examples.test.ts checks them',
  'npm run renew': 'changes snapshots, which their tests compare',
  'npm run picture': 'changes the picture of the README',
  'npm run bench': 'measures for minutes',
  'npm run compare-builds': 'builds two commits and sends requests for minutes',
  'npx vitest': 'updates snapshots',
  'npx tsx test/support/small-files.ts': 'lists files of the source for a person',
  'PROPERTY_RUNS=': 'sends requests for minutes',
  'npx --yes -p typescript': 'installs the generator that test/support/client.sh runs',
  'npx --yes quicktype': 'documented-examples.test.ts runs it',
  'sed -i': 'documented-examples.test.ts runs it, after quicktype',
  'apt-get install': 'changes the machine',
  'docker compose': 'needs Docker',
  'docker buildx': 'needs Docker',
  kubectl: 'needs a cluster; kubernetes.test.ts checks the manifests',
  createdb: 'needs the client programs of PostgreSQL',
  'DATA_DIR=./restored': 'backup-cli.test.ts restores into an embedded database',
  'test "$(head': 'backup-cli.test.ts runs it',
  unzip: 'a program that is not always there',
  ...Object.fromEntries(
    ['age', 'age-keygen', 'rclone', 'gpg', 'echo', 'cp --recursive', 'touch', 'pg_'].map((program) => [
      program,
      'runbooks.test.ts runs it',
    ]),
  ),
  'psql --command=': 'runbooks.test.ts runs it',
  psql: 'needs the client programs of PostgreSQL',
  'columns=': 'goes with psql',
  df: 'shows the disk',
  du: 'shows the disk',
  'SMTP_URL=': 'a setting',
  'MAIL_FROM=': 'a setting',
};

test('each command of the README and docs is run, or has a reason not to be', () => {
  const left = blocks.flatMap(({ page, text }) => {
    // Blocks with curl are run by documented-examples.test.ts.
    if (text.includes('curl')) return [];
    const joined = text.replaceAll(/\\\n\s*/g, '');
    const lines = joined
      .split('\n')
      .map((line) => line.trim())
      .filter((line) => line !== '' && !line.startsWith('#'));
    const isKnown = (line: string) => [prefix, ...Object.keys(notRun)].some((known) => line.startsWith(known));
    return lines.filter((line) => !isKnown(line)).map((line) => `${page}: ${line}`);
  });
  expect(left).toEqual([]);
});

/** Commands whose row or file is not in the demo data, with the expected error. */
const refused: Record<string, RegExp> = {
  ...Object.fromEntries(
    commands
      .filter((command) => command.includes(' provider delete '))
      .map((command) => [command, /Provider 9 not found/]),
  ),
  [`${prefix}mail retry 17`]: /Mail 17 not found/,
  [`${prefix}backup verify restored.zip`]: /restored.zip cannot be read/,
  [`${prefix}restore FILE --into postgres://booking:password@host/booking_restored`]: /FILE cannot be read/,
  [`${prefix}restore FILE --database booking`]: /needs a DATABASE_URL|FILE cannot be read/,
  [`${prefix}restore FILE --into embedded`]: /FILE cannot be read/,
  ...Object.fromEntries(
    commands
      .filter((command) => command.includes('backup verify FILE'))
      .map((command) => [command, /FILE cannot be read/]),
  ),
  [`${prefix}restore FILE --accept-migrations --database booking_restored`]: /needs a DATABASE_URL|FILE cannot be read/,
  // Nobody was erased.
  [`${prefix}erasures apply`]: /erasures\.jsonl does not exist/,
  // The PostgreSQL of the tests has `fsync` off.
  ...Object.fromEntries(
    commands
      .filter((command) => command.includes(' doctor'))
      .map((command) => [command, /^$|: 1 check found an error$/]),
  ),
};

const unique = [...new Set(commands)];
const third = Math.ceil(unique.length / 3);
const parts = [0, 1, 2]
  .map((n) => unique.slice(n * third, (n + 1) * third))
  .map((part, n) => [part[0]!, part, n] as const);

test.each(parts)('the cli commands from "%s" on work as pasted, with the demo data', async (_first, part, n) => {
  const [folder, dataFolder] = [temporaryFolder(), temporaryFolder()];
  // The first part uses the embedded database, the others one that a URL names.
  const url: Record<string, string> = n === 0 ? {} : { DATABASE_URL: databaseUrl((await demoDatabase()).name) };
  const server = await startServer({ DATA_DIR: dataFolder, DEMO_DATA: 'true', ...url });
  onTestFinished(() => void server.child.kill('SIGTERM'));
  const [, school = ''] = /```json\n(\{"kind":"location".*?)```/s.exec(readFileSync('docs/operate/import.md', 'utf8'))!;
  writeFileSync(join(folder, 'school.ndjson'), school);
  writeFileSync(join(folder, 'customers.csv'), 'ref,title\nacme,Acme\n');
  writeFileSync(join(folder, 'password.txt'), 'eight or more\n');
  const program = `${process.execPath} ${resolve('dist/cli.js')} `;
  const keys = { KEY_ID: '2', LEAKED_KEY_ID: '3' };
  const env = { PATH: process.env['PATH'] ?? '', HOME: folder, DATA_DIR: dataFolder, ...url, ...keys };
  const run = (command: string) =>
    new Promise<string>((done) => {
      const child = execFile('sh', ['-c', command.replace(prefix, program)], { env, cwd: folder }, (error, _, stderr) =>
        done(error ? stderr.trim() : ''),
      );
      child.stdin!.end('eight or more\n');
    });
  const failed: string[] = [];
  for (const command of part) {
    const said = await run(command);
    const isExpected = refused[command] ? refused[command].test(said) : said === '';
    if (!isExpected) failed.push(`${command}: ${said}`);
  }
  expect(failed).toEqual([]);
});
