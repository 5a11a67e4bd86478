import { spawnSync } from 'node:child_process';
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { Client as PostgresClient } from 'pg';
import { verifyBackup } from '../../../src/plugins/backup/read.ts';
import { failedChecks, pause, percentile, waitUntil, type Outcome, type Run, type Scenario } from '../scenario.ts';
import { createClient, type Client } from '../support/client.ts';
import { fillDatabase } from '../support/dataset.ts';
import { temporaryFolder } from '../support/folder.ts';
import { countStatuses, sendAtRate } from '../support/load.ts';
import { measuredCli, readMemory, type Measured } from '../support/measured-cli.ts';
import { debianPrograms, startPostgres } from '../support/postgres.ts';
import { startServer, stop, type Server } from '../support/server.ts';
import { fastMinutes } from '../../support/fast-minutes.ts';
import { freePort } from '../../support/ports.ts';

const requestsPerSecond = 200;
const maxSeconds = 60;
const maxMoreMb = 100;

type Tables = Record<string, { rows: number; sha256: string }>;
type Backup = { file: string; bytes: number; rows: number; tables: Tables };

const scenario: Scenario = {
  name: 'backups under load, restored elsewhere, killed, damaged',
  quick: false,
  async run(run) {
    const postgres = await startPostgres(run, { fsync: 'off', synchronous_commit: 'off' });
    await postgres.create('source');
    const env = { DATABASE_URL: postgres.url('source'), LOG_LEVEL: 'info', DATA_DIR: temporaryFolder(run) };
    const client = createClient(await fillDatabase(env.DATABASE_URL, run.quick ? 0.04 : 0.38, run.quick ? 10 : 500));
    run.onCleanup(client.close);
    const folder = temporaryFolder(run);
    const loaded = await backUpUnderLoad(run, env, client, folder);
    const { backup } = loaded;
    const outcomes: Outcome[] = [
      loaded.outcome,
      await testRestores(run, loaded, client, await findTargets(run, postgres)),
      await testKills(run, env, backup, run.quick ? 6 : 20),
      await testDamage(run, backup),
      await testFullDisk(run, env, backup),
      ...(run.quick ? [] : [await testNightly(run, env)]),
    ];
    const skipped = outcomes.map((outcome) => outcome.skipped).find((reason) => reason !== undefined);
    return {
      figures: outcomes.map(({ figures }) => figures).join('; '),
      failures: outcomes.flatMap(({ failures }) => failures),
      ...(skipped === undefined ? {} : { skipped }),
    };
  },
};
export default scenario;

type Loaded = Awaited<ReturnType<typeof backUpUnderLoad>>;

/** Writes a backup while a server reads and books at a fixed rate; then notes what a restore will undo. */
async function backUpUnderLoad(run: Run, env: Record<string, string>, client: Client, folder: string) {
  const server = await startServer(run, env);
  const course = await client.post(`${server.base}/v2/courses`, {
    title: 'Booked during the backup',
    price_value: 100,
  });
  const { course_id } = JSON.parse(course.text) as { course_id: number };
  const date = { start_at: '2035-06-10', end_at: '2035-06-11', capacity_max: 1_000_000 };
  const created = await client.post(`${server.base}/v2/courses/${course_id}/coursedates`, date);
  const { coursedate_id } = JSON.parse(created.text) as { coursedate_id: number };
  const before = await readVersions(client, server);

  const request = (n: number) =>
    n % 10 === 0
      ? client.post(`${server.base}/v2/booking`, toBooking(coursedate_id, n))
      : client.get(`${server.base}/v2/courses?limit=5&since_id=${n}`);
  const quiet = await sendAtRate(requestsPerSecond, run.quick ? 1_500 : 8_000, request);
  const done = new AbortController();
  const baseline = await measuredCli(['config'], env);
  const loading = sendAtRate(requestsPerSecond, done.signal, (n) => request(n + 1_000_000));
  const written = await measuredCli(['backup', '--to', folder, '--json'], env);
  done.abort();
  const responses = await loading;
  const after = await readVersions(client, server);
  await stop(server);
  const backup = JSON.parse(written.stdout) as Backup;
  const p99 = (all: { elapsed: number }[]) =>
    Math.round(
      percentile(
        all.map(({ elapsed }) => elapsed),
        0.99,
      ),
    );
  const moreMb = written.peakMb - baseline.peakMb;
  const outcome: Outcome = {
    figures:
      `${backup.rows.toLocaleString('en')} rows in ${toSeconds(written)} s (${toMb(backup.bytes)} MB), ` +
      `${Math.round(moreMb)} MB more memory, during ${responses.length} requests with p99 ${p99(responses)} ms ` +
      `(${p99(quiet)} ms without a backup), ${countUnavailable(responses)} times 503`,
    failures: failedChecks({
      'the backup succeeds': written.code === 0,
      [`requests succeed (${countStatuses(responses)})`]: responses.every(
        ({ status }) => status < 300 || status === 503,
      ),
      // On a machine that is too slow for the load without a backup the number means nothing.
      [`at most a tenth gets 503 (${countStatuses(responses)})`]:
        p99(quiet) > 500 || countUnavailable(responses) <= responses.length / 10,
      [`the backup takes at most ${maxSeconds} s (${toSeconds(written)} s)`]: written.ms <= maxSeconds * 1_000,
      [`it takes at most ${maxMoreMb} MB more (${moreMb} MB)`]: moreMb <= maxMoreMb,
    }),
  };
  return { outcome, backup, written, baseline, before, after };
}

const countUnavailable = (all: { status: number }[]) => all.filter(({ status }) => status === 503).length;

const toBooking = (coursedate_id: number, n: number) => ({
  ...{ coursedate_id, payment_method: 'invoice' },
  participants: [{ firstname: 'Kari', lastname: `Nordmann ${n}`, email: `kari-${n}@people.example` }],
});

async function readVersions(client: Client, { base }: Server) {
  const { headers } = await client.get(`${base}/v2/courses?limit=5`);
  const changes = await client.get(`${base}/v2/changes`);
  return { etag: String(headers['etag']), cursor: (JSON.parse(changes.text) as { cursor: string }).cursor };
}

type Target = { name: string; into: string; env: Record<string, string> };

/** The embedded database, Debian's PostgreSQL and a new database of the source's server. */
async function findTargets(run: Run, postgres: { create(name: string): Promise<void>; url(name: string): string }) {
  const embedded: Target = {
    name: 'embedded 18',
    into: 'embedded',
    env: { DATABASE_URL: 'embedded', DATA_DIR: openFolder(run) },
  };
  await postgres.create('back');
  const back: Target = { name: '18', into: postgres.url('back'), env: { DATABASE_URL: postgres.url('back') } };
  if (!existsSync(debianPrograms.postgres)) return [embedded, back];
  const debian = await startPostgres(run, { fsync: 'off' }, debianPrograms);
  await debian.create('restored');
  const url = debian.url('restored');
  const older: Target = { name: 'Debian 15', into: url, env: { DATABASE_URL: url } };
  return run.quick ? [older, embedded] : [embedded, older, back];
}

/** One that the database's user may enter. */
function openFolder(run: Run) {
  const folder = temporaryFolder(run);
  spawnSync('chmod', ['755', folder]);
  return folder;
}

/** Restores into each target the backup of the one before. */
async function testRestores(run: Run, { backup, baseline, before, after }: Loaded, client: Client, targets: Target[]) {
  const failures: string[] = [];
  const figures: string[] = [];
  let { file } = backup;
  for (const { name, into, env } of targets) {
    const restored = await measuredCli(['restore', file, '--into', into, '--json'], env);
    const moreMb = restored.peakMb - baseline.peakMb;
    const again = await measuredCli(['backup', '--to', temporaryFolder(run), '--json'], env);
    const copy = again.code === 0 ? (JSON.parse(again.stdout) as Backup) : undefined;
    file = copy?.file ?? file;
    figures.push(`${name} in ${toSeconds(restored)} s with ${Math.round(moreMb)} MB more`);
    const server = await startServer(run, { ...env, LOG_LEVEL: 'info' });
    const get = async (path: string, etag?: string) =>
      (await client.get(`${server.base}${path}`, etag === undefined ? {} : { headers: { 'if-none-match': etag } }))
        .status;
    const statuses = {
      key: await get('/v2/schools'),
      etags: [await get('/v2/courses?limit=5', before.etag), await get('/v2/courses?limit=5', after.etag)].join(),
      cursors: [await get(`/v2/changes?since=${before.cursor}`), await get(`/v2/changes?since=${after.cursor}`)].join(),
    };
    const { etag } = await readVersions(client, server);
    const control = await get('/v2/courses?limit=5', etag);
    await stop(server);
    failures.push(
      ...failedChecks({
        [`${name}: restored (${restored.stderr})`]: restored.code === 0,
        [`${name}: rows and digests are equal`]: JSON.stringify(copy?.tables) === JSON.stringify(backup.tables),
        [`${name}: doctor finds no difference`]: /"differences":0/.test(restored.stdout),
        [`${name}: the key works (${statuses.key})`]: statuses.key === 200,
        [`${name}: ETags of before do not match (${statuses.etags})`]: statuses.etags === '200,200',
        [`${name}: a cursor of an undone state gets 410 (${statuses.cursors})`]: statuses.cursors === '200,410',
        [`${name}: control: an ETag of now matches (${control})`]: control === 304,
        [`${name}: at most ${maxSeconds} s (${toSeconds(restored)} s)`]: restored.ms <= maxSeconds * 1_000,
        [`${name}: at most ${maxMoreMb} MB more (${moreMb} MB)`]: moreMb <= maxMoreMb,
      }),
    );
  }
  const lacks = !targets.some(({ name }) => name === 'Debian 15')
    ? { skipped: 'PostgreSQL 15 requires: apt-get install postgresql-15' }
    : {};
  return { figures: `restored into ${figures.join(', ')}`, failures, ...lacks };
}

const namesIn = (folder: string) => readdirSync(folder).sort();
/** Returns the error of a damaged backup; an empty text for an intact one. */
const findDamage = (file: string) =>
  verifyBackup(file).then(
    () => '',
    (error: unknown) => (error as Error).message,
  );

function writtenBytes(folder: string) {
  try {
    return Math.max(0, ...readdirSync(folder).map((name) => statSync(join(folder, name)).size));
  } catch {
    // Renamed in between.
    return 0;
  }
}

/** Kills a backup at points evenly spread over the bytes of its file. */
async function testKills(run: Run, env: Record<string, string>, { file, bytes }: Backup, points: number) {
  const failures: string[] = [];
  let unfinished: string | undefined;
  const counts = { none: 0, part: 0, whole: 0 };
  for (let point = 1; point <= points; point += 1) {
    const folder = temporaryFolder(run);
    const at = (bytes * (point - 1)) / points;
    await measuredCli(['backup', '--to', folder], env, () => writtenBytes(folder) > at);
    const names = namesIn(folder);
    const zips = names.filter((name) => name.endsWith('.zip'));
    const part = names.find((name) => name.endsWith('.part'));
    if (part !== undefined && statSync(join(folder, part)).size > 0) unfinished = join(folder, part);
    counts[zips.length > 0 ? 'whole' : part === undefined ? 'none' : 'part'] += 1;
    for (const name of zips) {
      const damage = await findDamage(join(folder, name));
      if (damage !== '') failures.push(`a kill at ${point} of ${points} leaves a file that is not whole: ${damage}`);
    }
  }
  // Negative control: an unfinished file under the name of a whole one.
  const renamed = unfinished?.replace(/\.part$/, '');
  if (unfinished !== undefined) renameSync(unfinished, renamed!);
  const control = renamed === undefined ? undefined : await findDamage(renamed);
  return {
    figures: `${points} kills left ${counts.part} unfinished and ${counts.whole} whole files`,
    failures: [
      ...failures,
      ...failedChecks({
        'a kill was during the writing': control !== undefined,
        'control: an unfinished file is found': /is damaged/.test(control ?? ''),
        'the earlier backup is whole': (await findDamage(file)) === '',
      }),
    ],
  };
}

/** Flips single bits of a copy at random positions. */
async function testDamage(run: Run, { file }: Backup): Promise<Outcome> {
  const bytes = readFileSync(file);
  const copy = join(temporaryFolder(run), 'damaged.zip');
  const count = run.quick ? 5 : 50;
  let found = 0;
  for (let n = 0; n < count; n += 1) {
    const at = Math.floor(run.random() * bytes.length);
    bytes[at]! ^= 1 << (n % 8);
    writeFileSync(copy, bytes);
    bytes[at]! ^= 1 << (n % 8);
    if ((await findDamage(copy)) !== '') found += 1;
  }
  writeFileSync(copy, bytes);
  return {
    figures: `${found} of ${count} flipped bits found`,
    failures: failedChecks({
      'every flipped bit is found': found === count,
      'control: the unchanged copy is whole': (await findDamage(copy)) === '',
    }),
  };
}

/** A file system with place for one and a half backups. */
async function testFullDisk(run: Run, env: Record<string, string>, { file, bytes }: Backup): Promise<Outcome> {
  const disk = join(temporaryFolder(run), 'disk');
  mkdirSync(disk);
  const size = Math.ceil((bytes * 1.5) / 4_096) * 4;
  if (spawnSync('mount', ['-t', 'tmpfs', '-o', `size=${size}k`, 'tmpfs', disk]).status !== 0)
    return { figures: 'full disk not run', failures: [], skipped: 'a full disk requires permission to mount a tmpfs' };
  run.onCleanup(() => spawnSync('umount', ['--lazy', disk]));
  const old = join(disk, 'booking-nightly-2026-01-01T02-15-00Z.zip');
  copyFileSync(file, old);
  const names = namesIn(disk);
  const { code, stderr } = await measuredCli(['backup', '--to', disk], env);
  const nightly = await makeNightlyOnFullDisk(run, env, disk);
  return {
    figures: `full disk: ${stderr.trim()}; of the nightly one: ${nightly.message}, booking_backup_failed ${nightly.failed}`,
    failures: failedChecks({
      [`the command fails and names the disk (${stderr})`]: code === 1 && /disk|space/.test(stderr),
      [`the nightly one is logged and names the disk (${nightly.message})`]: /failed, and .*(disk|space)/.test(
        nightly.message,
      ),
      [`its metric says so (${nightly.failed})`]: nightly.failed === 1,
      [`only the old backup and the list of erasures are left (${namesIn(disk).join(', ')})`]:
        namesIn(disk).join() === [...names, 'erasures.jsonl'].join(),
      'it is whole': (await findDamage(old)) === '',
    }),
  };
}

/** A server makes its nightly backup at the first minute. */
async function makeNightlyOnFullDisk(run: Run, env: Record<string, string>, folder: string) {
  const adminPort = await freePort();
  const nightly = { BACKUP_AT: '00:00', BACKUP_DIR: folder, ADMIN_PORT: String(adminPort) };
  const command = [process.execPath, ...fastMinutes, 'dist/main.js'];
  const server = await startServer(run, { ...env, ...nightly }, { command });
  const readFailed = async () => {
    const text = await (await fetch(`http://127.0.0.1:${adminPort}/metrics`)).text();
    return Number(/^booking_backup_failed (\d+)$/m.exec(text)?.[1]);
  };
  const find = () =>
    server
      .output()
      .split('\n')
      .find((line) => /"msg":"The nightly backup /.test(line));
  await waitUntil(() => find() !== undefined, 60_000);
  const failed = await readFailed();
  await stop(server);
  await forgetBackups(env['DATABASE_URL']!);
  return { failed, message: (JSON.parse(find() ?? '{"msg":"no line"}') as { msg: string }).msg };
}

/** So that the next one is not an hour later. */
async function forgetBackups(url: string) {
  const database = new PostgresClient({ connectionString: url });
  await database.connect();
  await database.query('delete from backup_runs');
  await database.end();
}

/** The nightly backup of a server, with its restore for a test: the server's memory. */
async function testNightly(run: Run, env: Record<string, string>): Promise<Outcome> {
  const folder = temporaryFolder(run);
  const server = await startServer(run, { ...env, BACKUP_AT: '00:00', BACKUP_DIR: folder });
  await pause(5_000);
  const before = readMemory(server.pid, 'VmRSS');
  let peak = before;
  const isDone = () => /Restored the backup for a test|could not be restored|backup failed/.test(server.output());
  const deadline = performance.now() + 240_000;
  while (!isDone() && performance.now() < deadline) {
    peak = Math.max(peak, readMemory(server.pid, 'VmRSS'));
    await pause(50);
  }
  await stop(server);
  const more = Math.round(peak - before);
  return {
    figures: `nightly backup and restore for a test with ${more} MB more memory of the server`,
    failures: failedChecks({
      'the nightly backup is made and restored for a test': /Restored the backup for a test/.test(server.output()),
      [`at most ${maxMoreMb} MB more (${more} MB)`]: more <= maxMoreMb,
    }),
  };
}

const toSeconds = ({ ms }: Measured) => (ms / 1_000).toFixed(1);
const toMb = (bytes: number) => (bytes / 1_048_576).toFixed(1);
