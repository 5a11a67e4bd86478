import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { expect, onTestFinished, test } from 'vitest';
import { startServer, temporaryFolder } from './support/processes.ts';

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
