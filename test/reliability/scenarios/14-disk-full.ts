import { spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdirSync, rmSync, statfsSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { failedChecks, waitUntil, type Outcome, type Scenario, type Run } from '../scenario.ts';
import { maxElapsed, countStatuses, sendAtRate } from '../support/load.ts';
import type { Postgres } from '../support/postgres.ts';
import { cli, createSchools, type School, type Schools } from '../support/school.ts';
import { startServer, type Server } from '../support/server.ts';

const scenario: Scenario = {
  name: 'disk full, database read-only',
  quick: false,
  requires: { mount: 'command -v mount' },
  async run(run) {
    const seconds = run.quick ? 2 : 8;
    const readOnly = await testReadOnly(run, seconds);
    const full = await testFullDisk(run, seconds);
    return {
      figures: `read-only: ${readOnly.figures}; full: ${full.figures}; control: writes succeed without a fault`,
      failures: [...readOnly.failures, ...full.failures],
      ...(full.skipped === undefined ? {} : { skipped: full.skipped }),
    };
  },
};
export default scenario;

async function testReadOnly(run: Run, seconds: number) {
  const schools = await createSchools(run);
  const server = await startServer(run, schools.env);
  // Negative control: the same assertions without a failure.
  const healthy = await observe(server, schools.first, 0.5);

  const { execute: command } = schools.postgres;
  await command('alter database schools set default_transaction_read_only = on', endConnections);
  const seen = await observe(server, schools.first, seconds);
  const beforeRecovery = await waitForWrite(server, schools.first, 500);
  // Existing connections stay open: the server has to replace them.
  await command('alter database schools reset default_transaction_read_only');
  const recoveryMs = await waitForWrite(server, schools.first, 10_000);
  return {
    figures: `${seen.figures}, recovered in ${Math.round(recoveryMs)} ms`,
    failures: [
      ...seen.failures.map((failure) => `read-only: ${failure}`),
      ...(await recoveryFailures(schools, server, recoveryMs)),
      ...failedChecks({
        'control: accepted writes are detected': healthy.failures.length === 1,
        'control: a read-only database is detected': beforeRecovery === Infinity,
      }),
    ],
  };
}

/**
 * Sessions keep the setting they started with. Waits until they are closed, since cut reads belong to another scenario.
 */
const endConnections = `select pg_terminate_backend(pid, 5000) from pg_stat_activity where datname = 'schools'`;

/** The database is on a separate disk, which is then filled. */
async function testFullDisk(run: Run, seconds: number): Promise<Outcome> {
  let disk: string | undefined;
  const create = async (postgres: Postgres, database: string) => {
    disk = mountDisk(run, postgres);
    if (disk === undefined) return postgres.create(database);
    await postgres.execute(
      `create tablespace small location '${disk}'`,
      `create database ${database} tablespace small`,
    );
  };
  const schools = await createSchools(run, { create });
  if (disk === undefined)
    return { figures: 'not run', failures: [], skipped: 'a full disk requires permission to mount a tmpfs' };

  const server = await startServer(run, { ...schools.env, METRICS_TOKEN: metricsToken });
  const before = await readStates(schools, server);
  const filler = join(disk, 'filler');
  fill(disk, filler);
  const seen = await observe(server, schools.first, seconds);
  const during = await readStates(schools, server);
  const beforeRecovery = await waitForWrite(server, schools.first, 500);
  rmSync(filler);
  const recoveryMs = await waitForWrite(server, schools.first, 10_000);
  const clearMs = await waitUntil(async () => (await readStates(schools, server, false)).ready === 'ready', 75_000);
  return {
    figures: `${seen.figures}, told as ${Object.values(during).join(', ')}, recovered in ${Math.round(recoveryMs)} ms`,
    failures: [
      ...seen.failures.map((failure) => `full: ${failure}`),
      ...(await recoveryFailures(schools, server, recoveryMs)),
      ...failedChecks({
        'control: a full disk is detected': beforeRecovery === Infinity,
        'control: no state tells of a full disk before': Object.values(before).join() === 'ready,0,ok',
        'each state tells of the full disk': Object.values(during).join() === 'ready but disk_full,1,error',
        '/ready is as before within 75 s': clearMs < Infinity,
      }),
    ],
  };
}

const metricsToken = 'a-token-of-the-metrics';

/** What `/ready`, the metrics and `doctor` tell of the disk. */
async function readStates({ env }: Schools, server: Server, withDoctor = true) {
  const response = await fetch(`${server.base}/ready`);
  const { status, writes } = (await response.json()) as { status: string; writes?: string };
  const metrics = await fetch(`${server.base}/metrics`, { headers: { authorization: `Bearer ${metricsToken}` } });
  const [, full] = /^booking_database_disk_full (\d)$/m.exec(await metrics.text()) ?? [];
  const doctor = withDoctor ? await cli(env, 'doctor', '--only', 'system', '--json') : undefined;
  const { checks } = JSON.parse(doctor?.output.split('\n')[0] ?? '{"checks":[]}') as {
    checks: { level: string; message: string }[];
  };
  const disk = checks.find(({ message }) => message.startsWith('The disk of the database'));
  return { ready: writes === undefined ? status : `${status} but ${writes}`, full, disk: disk?.level };
}

/** A file system of 64 MB for the database's user; undefined if mounting is not permitted. */
function mountDisk(run: Run, postgres: Postgres) {
  const disk = join(dirname(postgres.log), 'disk');
  mkdirSync(disk);
  const { uid, gid } = statSync(postgres.data);
  const options = `size=64m,mode=700,uid=${uid},gid=${gid}`;
  if (spawnSync('mount', ['-t', 'tmpfs', '-o', options, 'tmpfs', disk]).status !== 0) return undefined;
  run.onCleanup(() => spawnSync('umount', ['--lazy', disk]));
  return disk;
}

/** Fills the last page. */
function fill(disk: string, file: string) {
  for (;;) {
    const { bavail, bsize } = statfsSync(disk);
    if (bavail === 0) return;
    writeFileSync(file, Buffer.alloc(bavail * bsize, 1), { flag: 'a' });
  }
}

let created = 0;
/** Incompressible, so that it needs pages of its own. */
const create = (server: Server, { client }: School) => {
  created += 1;
  const text_description = randomBytes(30_000).toString('base64');
  return client.post(`${server.base}/v2/courses`, { title: `Course ${created}`, text_description });
};

/** Asserts that writes are rejected and reads succeed. */
async function observe(server: Server, school: School, seconds: number) {
  const [writes, reads] = await Promise.all([
    sendAtRate(10, seconds * 1_000, () => create(server, school)),
    sendAtRate(40, seconds * 1_000, (n) => school.client.get(`${server.base}/v2/courses?limit=5&since_id=${n}`)),
  ]);
  return {
    figures: `${reads.length} reads succeed, ${writes.length} writes got 503 within ${maxElapsed(writes)} ms`,
    failures: failedChecks({
      [`writes get 503 with Retry-After (${countStatuses(writes)})`]: writes.every(
        ({ status, headers }) => status === 503 && headers['retry-after'] !== undefined,
      ),
      [`reads succeed (${countStatuses(reads)})`]: reads.every(({ status }) => status === 200),
    }),
  };
}

const waitForWrite = (server: Server, school: School, milliseconds: number) =>
  waitUntil(async () => (await create(server, school)).status === 201, milliseconds);

async function recoveryFailures({ env }: Schools, server: Server, recoveryMs: number) {
  const doctor = await cli(env, 'doctor', '--only', 'data');
  return failedChecks({
    'the server keeps running': !server.hasEnded(),
    [`writes recover within 5 s (${Math.round(recoveryMs)} ms)`]: recoveryMs <= 5_000,
    'counters and totals equal the recount': doctor.code === 0,
  });
}
