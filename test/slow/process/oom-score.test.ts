import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, inject, onTestFinished, test } from 'vitest';
import { freePort } from '../../support/ports.ts';
import { startServer, temporaryFolder, databaseUrl } from '../../support/processes.ts';

const scoreOf = (pid: number | string) => readFileSync(`/proc/${pid}/oom_score_adj`, 'utf8').trim();
const own = process.platform === 'linux' ? scoreOf('self') : '';

function startCli(args: string[], env: Record<string, string>) {
  const child = spawn(process.execPath, ['dist/cli.js', ...args], {
    env: { PATH: process.env['PATH'] ?? '', ...env },
    stdio: 'ignore',
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  return child;
}

test.runIf(process.platform === 'linux').each(['provider list', 'migrate'])(
  'the command `%s` raises its OOM score when the database is not its own',
  async (command) => {
    // No server listens there, so that the command waits.
    const DATABASE_URL = `postgres://booking@127.0.0.1:${await freePort()}/booking`;
    const { pid } = startCli(command.split(' '), { DATABASE_URL });
    await expect.poll(() => scoreOf(pid!), { timeout: 60_000 }).toBe('1000');
  },
);

test.runIf(process.platform === 'linux')('the server and an embedded database keep their OOM score', async () => {
  const server = await startServer({ DATABASE_URL: databaseUrl(inject('shared')) });
  expect(scoreOf(server.pid)).toBe(own);

  const DATA_DIR = temporaryFolder();
  const file = join(DATA_DIR, 'postgres/data/postmaster.pid');
  const child = startCli(['migrate'], { DATA_DIR });
  await expect.poll(() => existsSync(file) && readFileSync(file, 'utf8') !== '', { timeout: 60_000 }).toBe(true);
  const postmaster = readFileSync(file, 'utf8').split('\n')[0]!;
  expect([scoreOf(child.pid!), scoreOf(postmaster)]).toEqual([own, own]);
  // Stops the database, whose folder is then removed.
  await once(child, 'exit');
});
