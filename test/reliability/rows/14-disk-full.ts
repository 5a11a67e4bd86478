import { spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdirSync, rmSync, statfsSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { faultsOf, until, type Outcome, type Row, type Run } from '../row.ts';
import { longest, statusesOf, steadily } from '../support/load.ts';
import type { Postgres } from '../support/postgres.ts';
import { cli, makeSchools, type School, type Schools } from '../support/school.ts';
import { startServer, type Server } from '../support/server.ts';

const row: Row = {
  name: 'the disk is full, the database read-only',
  quick: true,
  needs: { mount: 'command -v mount' },
  async run(run) {
    const seconds = run.quick ? 2 : 8;
    const readOnly = await tryReadOnly(run, seconds);
    const full = await tryFull(run, seconds);
    return {
      figures: `read-only: ${readOnly.figures}; full: ${full.figures}; nothing wrong: writes are not refused`,
      faults: [...readOnly.faults, ...full.faults],
      ...(full.skipped === undefined ? {} : { skipped: full.skipped }),
    };
  },
};
export default row;

async function tryReadOnly(run: Run, seconds: number) {
  const schools = await makeSchools(run);
  const server = await startServer(run, schools.env);
  // Negative control: the same assertions without a fault.
  const well = await look(server, schools.first, 0.5);

  const { command } = schools.postgres;
  await command('alter database schools set default_transaction_read_only = on', endConnections);
  const seen = await look(server, schools.first, seconds);
  const early = await healed(server, schools.first, 500);
  // Existing connections stay open: the server has to replace them.
  await command('alter database schools reset default_transaction_read_only');
  const back = await healed(server, schools.first, 10_000);
  return {
    figures: `${seen.figures}, back in ${Math.round(back)} ms`,
    faults: [
      ...seen.faults.map((fault) => `read-only: ${fault}`),
      ...(await healing(schools, server, back)),
      ...faultsOf({
        'the look finds writes that are not refused': well.faults.length === 1,
        'the look finds a database that is not well yet': early === Infinity,
      }),
    ],
  };
}

/**
 * Sessions keep the setting they started with. Waits until they are closed, since cut reads belong to another scenario.
 */
const endConnections = `select pg_terminate_backend(pid, 5000) from pg_stat_activity where datname = 'schools'`;

/** The database is on a separate disk, which is then filled. */
async function tryFull(run: Run, seconds: number): Promise<Outcome> {
  let disk: string | undefined;
  const create = async (postgres: Postgres, database: string) => {
    disk = makeDisk(run, postgres);
    if (disk === undefined) return postgres.create(database);
    await postgres.command(
      `create tablespace small location '${disk}'`,
      `create database ${database} tablespace small`,
    );
  };
  const schools = await makeSchools(run, { create });
  if (disk === undefined)
    return { figures: 'not tried', faults: [], skipped: 'a full disk needs root who may mount a tmpfs' };

  const server = await startServer(run, schools.env);
  const filler = join(disk, 'filler');
  fill(disk, filler);
  const seen = await look(server, schools.first, seconds);
  const early = await healed(server, schools.first, 500);
  rmSync(filler);
  const back = await healed(server, schools.first, 10_000);
  return {
    figures: `${seen.figures}, back in ${Math.round(back)} ms`,
    faults: [
      ...seen.faults.map((fault) => `full: ${fault}`),
      ...(await healing(schools, server, back)),
      ...faultsOf({ 'the look finds a disk that is still full': early === Infinity }),
    ],
  };
}

/** A file system of 64 MB for the database's user; undefined if mounting is not permitted. */
function makeDisk(run: Run, postgres: Postgres) {
  const disk = join(dirname(postgres.log), 'disk');
  mkdirSync(disk);
  const { uid, gid } = statSync(postgres.data);
  const options = `size=64m,mode=700,uid=${uid},gid=${gid}`;
  if (spawnSync('mount', ['-t', 'tmpfs', '-o', options, 'tmpfs', disk]).status !== 0) return undefined;
  run.afterwards(() => spawnSync('umount', ['--lazy', disk]));
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

let made = 0;
/** Incompressible, so that it needs pages of its own. */
const create = (server: Server, { client }: School) => {
  made += 1;
  const text_description = randomBytes(30_000).toString('base64');
  return client.post(`${server.base}/v2/courses`, { title: `Course ${made}`, text_description });
};

/** Asserts that writes are rejected and reads succeed. */
async function look(server: Server, school: School, seconds: number) {
  const [writes, reads] = await Promise.all([
    steadily(10, seconds * 1_000, () => create(server, school)),
    steadily(40, seconds * 1_000, (n) => school.client.get(`${server.base}/v2/courses?limit=5&since_id=${n}`)),
  ]);
  return {
    figures: `${reads.length} reads go on, ${writes.length} writes told 503 within ${longest(writes)} ms`,
    faults: faultsOf({
      [`writes get 503 with Retry-After (${statusesOf(writes)})`]: writes.every(
        ({ status, headers }) => status === 503 && headers['retry-after'] !== undefined,
      ),
      [`reads go on (${statusesOf(reads)})`]: reads.every(({ status }) => status === 200),
    }),
  };
}

const healed = (server: Server, school: School, milliseconds: number) =>
  until(async () => (await create(server, school)).status === 201, milliseconds);

async function healing({ env }: Schools, server: Server, back: number) {
  const doctor = await cli(env, 'doctor');
  return faultsOf({
    'the server lives': !server.hasEnded(),
    [`writes go on by themselves within 5 s (${Math.round(back)} ms)`]: back <= 5_000,
    'counters and totals equal the recount': doctor.code === 0,
  });
}
