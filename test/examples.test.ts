import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { startServer, temporaryFolder } from './support/processes.ts';
import { succeeds } from './support/programs.ts';

/** Lines to paste, each with where it stands, in the order of the page. */
const examplesOf = (file: string) =>
  [...readFileSync(file, 'utf8').matchAll(/```sh\n(.*?)```/gs)]
    .filter(([, text = '']) => text.includes('curl'))
    .map(([, text = ''], n) => ({ name: `${file} ${n + 1}: ${text.split('\n')[0]}`, text }));

/** Beside what it prints each `curl` tells its status, on standard error. */
const telling = `curl() { command curl -s -w '%{stderr}%{http_code}\\n' "$@"; }`;

test.each(['README.md', 'docs/interface.md'])('no example of %s is refused, with the demo data', async (file) => {
  const server = await startServer({ DATA_DIR: temporaryFolder(), DEMO_DATA: 'true', LOG_FORMAT: 'pretty' });
  onTestFinished(() => void server.child.kill('SIGTERM'));
  const KEY = /cbs_\S+/.exec(server.output())![0];
  const env = { PATH: process.env['PATH'] ?? '', KEY };
  const examples = examplesOf(file);
  expect(examples.length).toBeGreaterThan(0);
  const refused: string[] = [];
  for (const { name, text } of examples) {
    const pasted = text.replaceAll('http://localhost:3000', server.url).replace('export KEY=cbs_…\n', '');
    const script = `${telling}\n{ ${pasted}\n} 2>&1 >/dev/null`;
    const codes = execFileSync('sh', ['-c', script], { env, encoding: 'utf8' }).trim().split('\n');
    if (!codes.every((code) => /^[23]\d\d$/.test(code))) refused.push(`${name}: ${codes.join(' ')}`);
  }
  // The same course three times, and it says so.
  expect(refused.map((one) => one.replace(/.*: /, ''))).toEqual(file === 'README.md' ? [] : ['201 400 400']);
});

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
    expect(run('readme.php', phpOf('README.md').join('\n'))).toMatch(/^Course \d+\n$/);

    const guide = phpOf('docs/interface.md');
    const signOn = guide.filter((text) => text.includes('$_POST'));
    expect([signOn.length, guide.length]).toEqual([1, 6]);
    const output = run('guide.php', guide.filter((text) => !signOn.includes(text)).join('\n'));
    expect(output).toMatch(/^\d+\n\{"course_id":\d+\}\n(\d+ .+\n){40,}((store|remove) \d+\n){40,}\d+\n$/);
    const form = `<?php\n$_POST = ['username' => 'ida.ovrebo@havbris.example', 'password' => 'fjord og fjell'];\n`;
    expect(run('sign-on.php', `${form}${signOn[0]}\necho $answer['login_url'];`)).toContain(`/my/sign-in/`);
  },
);

test.each(['docs/interface.md', 'docs/import.md'])('the JSON of %s can be parsed', (file) => {
  const texts = [...readFileSync(file, 'utf8').matchAll(/```json\n(.*?)```/gs)].map(([, text]) => text!);
  expect(texts.length).toBeGreaterThan(0);
  for (const text of texts) {
    const values = file.endsWith('import.md') ? text.trim().split('\n') : [text];
    for (const value of values) expect(() => JSON.parse(value) as unknown, value).not.toThrow();
  }
});
