import { execFileSync, spawnSync, type SpawnSyncOptions } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { demoDatabase, startDemoServer } from '../../support/demo-database.ts';
import { docsPages } from '../../support/docs-pages.ts';
import { blocksOf, curlSamplesOf, programsIn, type Language } from '../../support/documented-samples.ts';
import { startServer, temporaryFolder } from '../../support/processes.ts';
import { succeeds } from '../../support/programs.ts';

/** Guides with a program for their main steps in every language. */
const guides = [
  'book',
  'booking-page',
  'price',
  'refund',
  'follow',
  'invoice',
  'partners',
  'sign-on',
  'sync',
  'waiting-list',
];

/** Output of each program, by the name of its file. */
const outputs: Record<string, RegExp> = {
  client: /^$/,
  book: /^.+, \d{4}-\d\d-\d\d: order \d+\n$/,
  'booking-page': new RegExp(
    '^.+, \\d{4}-\\d\\d-\\d\\d: NOK (\\d+\\.\\d\\d)\n' +
      'participants\\[0\\]\\.firstname: Please fill this in\nparticipants\\[0\\]\\.lastname: Please fill this in\n' +
      'campaign_code: This code does not apply here\nto pay: \\1\n' +
      'order (\\d+), booking (?!\\2:)\\d+: seat\n$',
  ),
  price: /^(.+: NOK (\d+\.\d\d), without VAT (\d+\.\d\d)\n){3}$/,
  refund: new RegExp(
    '^paid: 3800\\.00\nwould be owed: 1900\\.00\ncredit \\d+ for participant (\\d+): owed 1900\\.00\n' +
      'refund: -1900\\.00 by card\nleft: participant (?!\\1,)\\d+, paid 1900\\.00, due 0\\.00, owed 0\\.00\n$',
  ),
  follow: /^((store|remove) \d+.*\n)*\d+ courses\n$/,
  invoice: /^(\d+ (invoice|credit note of \d+): -?\d+\.\d\d to .+\n)+$/,
  multipart: /^\{"course_id":\d+\}\n$/,
  partners: /^(\d{4}-\d\d-\d\d .+ \(.+\)(: full)?\n){20}$/,
  'sign-on': /\/my\/sign-in\/[\w-]+/,
  sync: /^((store|remove) courses \d+\n){40,}((store|remove) coursedates \d+\n){80,}(store (location|instructor)s \d+\n){10,}$/,
  typed: /^.+(, \d{4}-\d\d-\d\d: order \d+| \d+(\.\d+)?)\n$/,
  'waiting-list': new RegExp(
    '^first: (order (\\d+), booking (?!\\2,)\\d+), status 1\nagain: \\1, status 1\nrefused: no_seats_available\n' +
      'waiting: order \\d+, booking \\d+, status 3\nafter the cancellation: status 1\n$',
  ),
};

const settings = { RATE_LIMIT_PER_SECOND: '1000', WEBHOOK_ALLOW: '127.0.0.1' };
/** A receiver of webhooks where nothing listens. */
const HOOK_URL = 'http://127.0.0.1:65535/hooks';

/** A first start with the embedded database, and what the samples read from the environment. */
async function startFirst() {
  const demo = { DATA_DIR: temporaryFolder(), DEMO_DATA: 'true', LOG_FORMAT: 'pretty' };
  const server = await startServer({ ...demo, ...settings });
  onTestFinished(async () => {
    server.child.kill('SIGTERM');
    await server.ended;
  });
  const KEY = /cbs_\S+/.exec(server.output())![0];
  return { PATH: process.env['PATH'] ?? '', HOME: process.env['HOME'] ?? '/', BASE_URL: server.url, KEY };
}

/** The tutorial and the README have a server of their own, so that they work on new demo data. */
const others = docsPages.filter((page) => page !== 'docs/tutorial/getting-started.md');
const half = Math.ceil(others.length / 2);
let samplesRun = 0;
afterAll(() => console.log(`${samplesRun} samples run`));

/** Makes `curl` print each status to standard error. */
const printStatus = `curl() { command curl -s -w '%{stderr}%{http_code}\\n' "$@"; }`;

test.each([['README.md'], ['docs/tutorial/getting-started.md'], others.slice(0, half), others.slice(half)])(
  'no curl sample of %s and the pages after it is refused, with the demo data',
  async (...names) => {
    const demo = names.length === 1 ? await startFirst() : (await startDemoServer(await demoDatabase(), settings)).env;
    const env = { ...demo, HOOK_URL, HOOK_ID: '1' };
    const cwd = temporaryFolder();
    const samples = names.flatMap(curlSamplesOf);
    const refused: string[] = [];
    let requests = 0;
    for (const { name, text } of samples) {
      const pasted = text.replace('export BASE_URL=http://localhost:3000 KEY=cbs_…\n', '');
      const script = `${printStatus}\n{ ${pasted}\n} 2>&1 >/dev/null`;
      const codes = execFileSync('sh', ['-c', script], { env, cwd, encoding: 'utf8' }).trim().split('\n');
      requests += codes.length;
      if (!codes.every((code) => /^[23]\d\d$/.test(code))) refused.push(`${name}: ${codes.join(' ')}`);
    }
    samplesRun += samples.length;
    console.log(`${samples.length} curl samples run (${requests} requests) from ${names.length} page(s)`);
    // The same course in three formats: a title is accepted once.
    const isExpected = (one: string) => /^docs\/reference\/requests\.md.*: 201 400 400$/.test(one);
    // A new school has sent no mail.
    const isOfMail = (one: string) => /^docs\/reference\/mails\.md.*\/resend": 404$/.test(one);
    expect(refused.filter((one) => !isExpected(one) && !isOfMail(one))).toEqual([]);
    expect(refused.some(isExpected)).toBe(names.includes('docs/reference/requests.md'));
    expect(samples.length).toBeGreaterThan(0);
  },
);

/** The programs of all languages use one database, so each runs on data that another has changed. */
let programDatabase: Awaited<ReturnType<typeof demoDatabase>>;
beforeAll(async () => {
  programDatabase = await demoDatabase(afterAll);
});

/** Writes the programs to a folder; those in TypeScript import a generated client as `booking`. */
function writePrograms(language: Language, folder: string) {
  const programs = programsIn(language);
  for (const { file, text } of programs) writeFileSync(join(folder, file), text);
  if (language === 'ts') execFileSync('bash', ['test/support/client.sh', join(folder, 'booking')]);
  return programs;
}

const runners: Record<Language, { isThere: string; needs: string; command: string[] }> = {
  php: {
    isThere: `php -r 'exit(function_exists("curl_init") ? 0 : 1);'`,
    needs: 'PHP with the curl extension',
    command: ['php', '-d', 'display_errors=stdout', '-d', 'error_reporting=-1'],
  },
  ts: { isThere: 'true', needs: 'Node.js', command: [resolve('node_modules/.bin/tsx')] },
  python: {
    isThere: `python3 -c 'import sys; sys.exit(sys.version_info < (3, 9))'`,
    needs: 'Python 3.9 or newer',
    command: ['python3', '-B', '-W', 'error'],
  },
};
const languages = Object.keys(runners) as Language[];

/** Generates the classes of `typed.php` as documented; false if the generator cannot be installed. */
function generateClasses(cwd: string, env: { BASE_URL: string }) {
  const command = blocksOf('docs/guides/typed-clients.md', 'sh').find((text) => text.includes('quicktype'))!;
  const install = `${/npx --yes quicktype@\S+/.exec(command)![0]} --version`;
  if (spawnSync('sh', ['-c', install], { cwd, timeout: 120_000 }).status !== 0) return false;
  const pasted = command.replace('http://localhost:3000', env.BASE_URL);
  const { status, stderr } = spawnSync('sh', ['-e', '-c', pasted], { cwd, encoding: 'utf8' });
  expect(status, stderr).toBe(0);
  return true;
}

/** Runs the programs in their order, and prints how many. */
function runPrograms(language: Language, programs: ReturnType<typeof programsIn>, options: SpawnSyncOptions) {
  const [program = '', ...flags] = runners[language].command;
  const failed: string[] = [];
  for (const { page, file, title } of programs) {
    const { status, stdout, stderr } = spawnSync(program, [...flags, file], { ...options, encoding: 'utf8' });
    const isExpected = status === 0 && stderr === '' && outputs[title]?.test(stdout);
    if (!isExpected) failed.push(`${page}, ${file}: ${status} ${stdout}${stderr}`);
  }
  samplesRun += programs.length;
  console.log(`${programs.length} samples run in ${language}`);
  expect(failed).toEqual([]);
}

/** Needs classes that a generator writes, which is installed from the network. */
const isGenerated = ({ file }: { file: string }) => file === 'typed.php';

test.for(languages)('each program in %s runs as printed', { timeout: 300_000 }, async (language, { skip }) => {
  const { isThere, needs } = runners[language];
  if (!succeeds(isThere)) return skip(`${needs} is missing`);
  const { env } = await startDemoServer(programDatabase, settings);
  const cwd = temporaryFolder();
  const programs = writePrograms(language, cwd).filter((one) => !isGenerated(one));
  runPrograms(language, programs, { env, cwd });
});

test('typed.php runs as printed, with the generated classes', { timeout: 300_000 }, async ({ skip }) => {
  if (!succeeds(runners.php.isThere)) return skip(`${runners.php.needs} is missing`);
  const { env } = await startDemoServer(programDatabase, settings);
  const cwd = temporaryFolder();
  const programs = writePrograms('php', cwd).filter(isGenerated);
  expect(programs).toHaveLength(1);
  if (!generateClasses(cwd, env)) return skip('npx cannot install quicktype');
  runPrograms('php', programs, { env, cwd });
});

test.each(languages)('each guide has a program in %s, and each file has another name', (language) => {
  const titles = programsIn(language).map(({ title }) => title);
  expect(guides.filter((guide) => !titles.includes(guide))).toEqual([]);
  expect(titles).toEqual([...new Set(titles)]);
});

test('the programs in TypeScript have no type errors under strict', () => {
  const cwd = temporaryFolder();
  const programs = writePrograms('ts', cwd);
  const types = ['--types', 'node', '--typeRoots', resolve('node_modules/@types'), '--skipLibCheck'];
  const modules = ['--module', 'esnext', '--moduleResolution', 'bundler', '--target', 'es2023', '--noEmit'];
  const strict = ['--strict', '--noUnusedLocals', '--noUnusedParameters', '--erasableSyntaxOnly'];
  const options = [...types, ...modules, '--allowImportingTsExtensions', ...strict];
  const files = programs.map(({ file }) => file);
  const tsc = resolve('node_modules/.bin/tsc');
  const { status, stdout } = spawnSync(tsc, [...options, ...files], { cwd, encoding: 'utf8' });
  expect({ status, stdout }).toEqual({ status: 0, stdout: '' });
});

const withJson = docsPages.filter((page) => readFileSync(page, 'utf8').includes('```json\n'));

test.each(withJson)('the JSON of %s can be parsed', (file) => {
  const texts = [...readFileSync(file, 'utf8').matchAll(/```json\n(.*?)```/gs)].map(([, text]) => text!);
  for (const text of texts) {
    const values = file.includes('/import') ? text.trim().split(/\n(?=\{)/) : [text];
    for (const value of values) expect(() => JSON.parse(value) as unknown, value).not.toThrow();
  }
});
