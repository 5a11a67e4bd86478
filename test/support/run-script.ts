import { spawnSync } from 'node:child_process';
import { resolve } from 'node:path';

/** Runs a script as pasted, with the command line that is built. */
export function runScript(script: string, env: Record<string, string>, cwd: string, user: object = {}) {
  const text = script.replaceAll('npm run --silent cli --', `${process.execPath} ${resolve('dist/cli.js')}`);
  const { status, stdout, stderr } = spawnSync('bash', ['-euo', 'pipefail', '-c', text], {
    ...{ cwd, encoding: 'utf8', ...user },
    env: { PATH: `/usr/sbin:${process.env['PATH']}`, HOME: cwd, ...env },
  });
  return { status, output: stdout + stderr };
}
