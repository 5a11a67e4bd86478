import { spawnSync } from 'node:child_process';
import { chmodSync, cpSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect, test, vi } from 'vitest';
import { isRoot } from '../../support/embedded-users.ts';
import { temporaryFolder } from '../../support/processes.ts';

vi.setConfig({ testTimeout: 120_000 });

/** Root may write everywhere, so that it runs the programs as `nobody`. */
const user = isRoot ? { uid: 65_534, gid: 65_534 } : {};
const modules = resolve('node_modules');
const canRead = spawnSync('test', ['-r', join(modules, 'esbuild/package.json')], user).status === 0;

/** A checkout that was not built, in a folder that its user may only read. */
function copyCheckout(name = 'checkout') {
  const folder = temporaryFolder();
  const checkout = join(folder, name);
  mkdirSync(checkout);
  for (const part of ['.build.js', '.build-reference.js', 'package.json', 'tsconfig.json', 'src'])
    cpSync(part, join(checkout, part), { recursive: true });
  symlinkSync(modules, join(checkout, 'node_modules'));
  chmodSync(folder, 0o755);
  return checkout;
}

test('a build replaces the entries of an earlier one, whatever the name of its folder is', () => {
  const checkout = copyCheckout('course-booking');
  cpSync('dist/browser', join(checkout, 'dist/browser'), { recursive: true });
  writeFileSync(join(checkout, 'dist/main.js'), '');
  expect(spawnSync(process.execPath, ['.build.js'], { cwd: checkout }).status).toBe(0);
  expect(readFileSync(join(checkout, 'dist/main.js'), 'utf8')).toContain('buildApp');
  expect(readFileSync(join(checkout, 'dist/parts/watchdog.sh'))).toEqual(
    readFileSync('src/embedded-postgres/watchdog.sh'),
  );
});

function run(checkout: string, ...[program, ...args]: [string, ...string[]]) {
  chmodSync(checkout, 0o555);
  const env = { PATH: process.env['PATH'], HOME: '/tmp', npm_config_update_notifier: 'false', NO_COLOR: '1' };
  const { status, stderr } = spawnSync(program, args, { cwd: checkout, encoding: 'utf8', env, ...user });
  chmodSync(checkout, 0o755);
  return { status, lines: stderr.trim().split('\n') };
}

test.runIf(canRead)('a read-only checkout that was not built gets one line', () => {
  const checkout = copyCheckout();
  const told = expect.stringMatching(
    /^The server cannot be built: .*dist.* cannot be written \(EACCES\)\. Build it/,
  ) as string;
  expect(run(checkout, process.execPath, '.build.js')).toEqual({ status: 1, lines: [told] });
  expect(run(checkout, 'npm', 'start')).toEqual({ status: 1, lines: ['Building the server', told] });

  const build = join(checkout, '.build.js');
  const source = readFileSync(build, 'utf8');
  const thrown = source.replace(/if \(!\[.*\]\.includes\(error\.code\)\) /, '');
  expect(thrown).not.toBe(source);
  writeFileSync(build, thrown);
  expect(run(checkout, process.execPath, '.build.js').lines.length).toBeGreaterThan(3);
});

test('an installation without development dependencies keeps its build', () => {
  const checkout = copyCheckout();
  rmSync(join(checkout, 'node_modules'));
  expect(run(checkout, process.execPath, '.build.js')).toMatchObject({ status: 1 });
  mkdirSync(join(checkout, 'dist'));
  writeFileSync(join(checkout, 'dist/main.js'), '');
  expect(run(checkout, process.execPath, '.build.js')).toEqual({ status: 0, lines: [''] });
});
