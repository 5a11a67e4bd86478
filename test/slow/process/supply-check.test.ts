import { execFileSync, spawnSync } from 'node:child_process';
import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { temporaryFolder } from '../../support/processes.ts';

/** Runs the check with a fake npm that prints this audit. */
function checkSupply(answer: string) {
  const folder = temporaryFolder();
  writeFileSync(join(folder, 'answer'), answer);
  writeFileSync(join(folder, 'npm'), `#!/bin/sh\nexec cat '${join(folder, 'answer')}'\n`);
  chmodSync(join(folder, 'npm'), 0o755);
  const env = { ...process.env, PATH: `${folder}:${process.env['PATH']}` };
  expect(execFileSync('npm', [], { encoding: 'utf8', env })).toBe(answer);
  const { status, stdout, stderr } = spawnSync(process.execPath, ['--import', 'tsx', 'test/support/supply.ts'], {
    encoding: 'utf8',
    env,
  });
  return { status, stdout, stderr };
}

const counts = (high: number) => JSON.stringify({ metadata: { vulnerabilities: { high, total: high } } });

test.each([
  ['{"message":"404 Not Found - POST /-/npm/v1/security"}', '404 Not Found - POST /-/npm/v1/security'],
  ['<html>', 'no answer'],
])('the check of dependencies says that nothing was audited where npm answers %j', (answer, reason) => {
  const { status, stdout, stderr } = checkSupply(answer);
  expect([status, stdout]).toEqual([0, '']);
  expect(stderr).toContain('WARNING: NOTHING WAS AUDITED');
  expect(stderr).toContain(reason);
});

test('the dependency check fails for a known vulnerability and passes without one', () => {
  expect(checkSupply(counts(2))).toMatchObject({ status: 1, stderr: expect.stringContaining('{"high":2}') });
  expect(checkSupply(counts(0))).toMatchObject({ status: 0, stdout: expect.stringContaining('no dependency') });
});
