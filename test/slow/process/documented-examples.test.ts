import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { startServer, temporaryFolder } from '../../support/processes.ts';
import { succeeds } from '../../support/programs.ts';

/** Blocks of lines to paste, each with its position, in the order of the page. */
const examplesOf = (page: string) =>
  [...readFileSync(page, 'utf8').matchAll(/```sh\n(.*?)```/gs)]
    .filter(([, text = '']) => text.includes('curl') && !text.startsWith('docker compose'))
    .map(([, text = ''], n) => ({ name: `${page} ${n + 1}: ${text.split('\n')[0]}`, text }));

/** Pages with examples. Those of the README run on their own, so that they work on a new database. */
const guides = readdirSync('docs')
  .map((name) => `docs/${name}`)
  .filter((page) => examplesOf(page).length > 0);

/** Makes `curl` print each status to standard error. */
const printStatus = `curl() { command curl -s -w '%{stderr}%{http_code}\\n' "$@"; }`;

test.each([['README.md'], ['docs/getting-started.md'], guides])(
  'no example of %s and the pages after it is refused, with the demo data',
  { timeout: 240_000 },
  async (...pages) => {
    const server = await startServer({ DATA_DIR: temporaryFolder(), DEMO_DATA: 'true', LOG_FORMAT: 'pretty' });
    onTestFinished(() => void server.child.kill('SIGTERM'));
    const KEY = /cbs_\S+/.exec(server.output())![0];
    const env = { PATH: process.env['PATH'] ?? '', KEY };
    const examples = pages.flatMap(examplesOf);
    expect(examples.length).toBeGreaterThan(0);
    const refused: string[] = [];
    for (const { name, text } of examples) {
      const pasted = text.replaceAll('http://localhost:3000', server.url).replace('export KEY=cbs_…\n', '');
      const script = `${printStatus}\n{ ${pasted}\n} 2>&1 >/dev/null`;
      const codes = execFileSync('sh', ['-c', script], { env, encoding: 'utf8' }).trim().split('\n');
      if (!codes.every((code) => /^[23]\d\d$/.test(code))) refused.push(`${name}: ${codes.join(' ')}`);
    }
    // The same course in three formats: a title is accepted once.
    const expected = pages.includes('docs/requests.md') ? ['201 400 400'] : [];
    expect(refused.map((one) => one.replace(/.*: /, ''))).toEqual(expected);
  },
);

const phpOf = (file: string) => [...readFileSync(file, 'utf8').matchAll(/```php\n(.*?)```/gs)].map(([, text]) => text!);

test.runIf(succeeds(`php -r 'exit(function_exists("curl_init") ? 0 : 1);'`))(
  'the PHP of README and docs runs as pasted, with the demo data',
  async () => {
    const folder = temporaryFolder();
    const server = await startServer({ DATA_DIR: temporaryFolder(), DEMO_DATA: 'true', LOG_FORMAT: 'pretty' });
    onTestFinished(() => void server.child.kill('SIGTERM'));
    const env = { PATH: process.env['PATH'] ?? '', KEY: /cbs_\S+/.exec(server.output())![0] };
    const run = (name: string, text: string) => {
      writeFileSync(join(folder, name), text.replaceAll('http://localhost:3000', server.url));
      const strict = ['-d', 'display_errors=stdout', '-d', 'error_reporting=-1', name];
      return execFileSync('php', strict, { env, cwd: folder, encoding: 'utf8' });
    };
    // In this order: the first page defines the function that the others call.
    const guide = ['requests', 'sync', 'endpoints-school', 'endpoints-people'].flatMap((page) =>
      phpOf(`docs/${page}.md`),
    );
    const signOn = guide.filter((text) => text.includes('$_POST'));
    expect(signOn).toHaveLength(1);
    const output = run('guide.php', guide.filter((text) => !signOn.includes(text)).join('\n'));
    expect(output).toMatch(/^\d+\n\{"course_id":\d+\}\n(\d+ .+\n){40,}((store|remove) \d+\n){40,}\d+\n$/);
    const form = `<?php\n$_POST = ['username' => 'ida.ovrebo@havbris.example', 'password' => 'fjord og fjell'];\n`;
    expect(run('sign-on.php', `${form}${signOn[0]}\necho $response['login_url'];`)).toContain(`/my/sign-in/`);
  },
);

const withJson = readdirSync('docs')
  .map((name) => `docs/${name}`)
  .filter((page) => readFileSync(page, 'utf8').includes('```json\n'));

test.each(withJson)('the JSON of %s can be parsed', (file) => {
  const texts = [...readFileSync(file, 'utf8').matchAll(/```json\n(.*?)```/gs)].map(([, text]) => text!);
  for (const text of texts) {
    const values = file.endsWith('import.md') ? text.trim().split('\n') : [text];
    for (const value of values) expect(() => JSON.parse(value) as unknown, value).not.toThrow();
  }
});
