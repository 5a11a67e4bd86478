import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { expect, onTestFinished, test } from 'vitest';
import { startServer, temporaryFolder } from '../../support/processes.ts';

/** Lines to paste, each with where it stands, in the order of the page. */
const examplesOf = (file: string) =>
  [...readFileSync(file, 'utf8').matchAll(/```sh\n(.*?)```/gs)]
    .filter(([, text = '']) => text.includes('curl'))
    .map(([, text = ''], n) => ({ name: `${file} ${n + 1}: ${text.split('\n')[0]}`, text }));

/** Beside what it prints each `curl` tells its status, on standard error. */
const curlWithStatus = `curl() { command curl -s -w '%{stderr}%{http_code}\\n' "$@"; }`;

test.each(['README.md', 'docs/interface.md'])('every example of %s succeeds with the demo data', async (file) => {
  const server = await startServer({ DATA_DIR: temporaryFolder(), DEMO_DATA: 'true', LOG_FORMAT: 'pretty' });
  onTestFinished(() => void server.child.kill('SIGTERM'));
  const KEY = /cbs_\S+/.exec(server.output())![0];
  const env = { PATH: process.env['PATH'] ?? '', KEY };
  const examples = examplesOf(file);
  expect(examples.length).toBeGreaterThan(0);
  const refused: string[] = [];
  for (const { name, text } of examples) {
    const pasted = text.replaceAll('http://localhost:3000', server.url).replace('export KEY=cbs_…\n', '');
    const script = `${curlWithStatus}\n{ ${pasted}\n} 2>&1 >/dev/null`;
    const codes = execFileSync('sh', ['-c', script], { env, encoding: 'utf8' }).trim().split('\n');
    if (!codes.every((code) => /^[23]\d\d$/.test(code))) refused.push(`${name}: ${codes.join(' ')}`);
  }
  // The same course three times, and it says so.
  expect(refused.map((one) => one.replace(/.*: /, ''))).toEqual(file === 'README.md' ? [] : ['201 400 400']);
});
