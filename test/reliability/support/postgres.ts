import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  chownSync,
  createWriteStream,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { Client } from 'pg';
import { locateDataFolder } from '../../../src/embedded-postgres/data-folder.ts';
import { childEnvironment, run as runProgram } from '../../../src/embedded-postgres/processes.ts';
import { findBinaries, type Binaries } from '../../../src/embedded-postgres/binaries.ts';
import { freePort } from '../../support/ports.ts';
import { pause, waitUntil, type Cleanup } from '../scenario.ts';
import { registerSecret } from './secrets.ts';

/** A PostgreSQL on a TCP port without a supervisor. */
export type Postgres = {
  port: number;
  data: string;
  log: string;
  /** `DATABASE_URL` of a database; through another port if a proxy is in between. */
  url(database: string, port?: number): string;
  /** A new connection; the caller closes it. */
  connect(database?: string): Promise<Client>;
  create(database: string): Promise<void>;
  /** Runs statements in autocommit mode in the database `postgres`. */
  execute(...statements: string[]): Promise<void>;
  /** Kills all its processes. */
  kill(): Promise<void>;
  /** Stops all its processes for that time, so that connections stay open and silent. */
  suspend(milliseconds: number): Promise<void>;
  start(): Promise<void>;
};

/** Not checked, since local connections are trusted; must not appear in any log. */
const password = registerSecret('database-Pa55word');

/** Programs of Debian's PostgreSQL 15, the oldest supported version. */
export const debianPrograms: Binaries = {
  postgres: '/usr/lib/postgresql/15/bin/postgres',
  initdb: '/usr/lib/postgresql/15/bin/initdb',
  major: '15',
};

type DataFolder = Awaited<ReturnType<typeof locateDataFolder>>;

/** Starts an empty PostgreSQL with durable commits unless `settings` override that; that of the package by default. */
export async function startPostgres(
  run: Cleanup,
  settings: Record<string, string> = {},
  programs?: Binaries,
): Promise<Postgres> {
  const dataFolder = await makeFolder(run);
  const program = programs ?? (await findBinaries(dataFolder));
  const isCurrent = programs === undefined;
  const result = await runProgram(dataFolder.owner, program.initdb, [
    ...['-D', dataFolder.data, '-U', 'booking', '--auth=trust', '--encoding=UTF8', '--locale=C'],
    ...(isCurrent ? ['--locale-provider=builtin', '--builtin-locale=C.UTF-8'] : []),
    '--no-instructions',
  ]);
  if (result.failure !== undefined) throw new Error(result.failure);
  return startOn(run, { dataFolder, program, isCurrent }, settings);
}

/** Starts a standby that streams from `primary`. */
export async function startStandby(run: Cleanup, primary: Postgres): Promise<Postgres> {
  const dataFolder = await makeFolder(run);
  const client = await primary.connect();
  await client.query(`select pg_backup_start('standby', true)`);
  const copied = await runProgram(dataFolder.owner, 'cp', ['-a', `${primary.data}/.`, dataFolder.data]);
  const { rows } = await client.query<{ labelfile: string }>('select labelfile from pg_backup_stop()');
  await client.end();
  if (copied.failure !== undefined) throw new Error(copied.failure);
  rmSync(join(dataFolder.data, 'postmaster.pid'));
  for (const [name, text] of Object.entries({ backup_label: rows[0]!.labelfile, 'standby.signal': '' })) {
    writeFileSync(join(dataFolder.data, name), text);
    if (dataFolder.owner) chownSync(join(dataFolder.data, name), dataFolder.owner.uid, dataFolder.owner.gid);
  }
  const program = await findBinaries(dataFolder);
  return startOn(
    run,
    { dataFolder, program, isCurrent: true },
    {
      primary_conninfo: `host=127.0.0.1 port=${primary.port} user=booking`,
      hot_standby: 'on',
    },
  );
}

async function makeFolder(run: Cleanup) {
  const folder = mkdtempSync(join(tmpdir(), 'booking-reliability-'));
  // PostgreSQL does not run as root, so its files belong to another user.
  chmodSync(folder, 0o755);
  run.onCleanup(() => rmSync(folder, { recursive: true, force: true }));
  return locateDataFolder(folder);
}

type Cluster = { dataFolder: DataFolder; program: Binaries; isCurrent: boolean };

async function startOn(run: Cleanup, { dataFolder, program, isCurrent }: Cluster, settings: Record<string, string>) {
  const port = await freePort();
  const log = join(dirname(dataFolder.data), 'server.log');
  const pids = {
    ...{ listen_addresses: '127.0.0.1', port: String(port), unix_socket_directories: '' },
    ...{ max_connections: '200', jit: 'off', ...(isCurrent ? { io_method: 'sync' } : {}), ...settings },
  };
  const parameters = Object.entries(pids).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
  const url = (database: string, at = port) => `postgres://booking:${password}@127.0.0.1:${at}/${database}`;
  let child: ChildProcess | undefined;
  let ended: Promise<unknown> = Promise.resolve();

  async function connect(database = 'postgres') {
    const client = new Client({ connectionString: url(database), connectionTimeoutMillis: 30_000 });
    client.on('error', () => undefined);
    await client.connect();
    return client;
  }
  async function start() {
    child = spawn(program.postgres, ['-D', dataFolder.data, ...parameters], {
      ...dataFolder.owner,
      cwd: '/',
      env: childEnvironment,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    ended = once(child, 'exit');
    child.stderr!.pipe(createWriteStream(log, { flags: 'a' }));
    const isReachable = async () => {
      const client = await connect().catch(() => undefined);
      await client?.end();
      return client !== undefined;
    };
    if ((await waitUntil(isReachable, 30_000)) === Infinity) throw new Error(readFileSync(log, 'utf8'));
  }
  async function kill() {
    const postmaster = child?.pid;
    if (postmaster === undefined) return;
    await killWithChildren(postmaster);
    await ended;
    child = undefined;
  }

  async function suspend(milliseconds: number) {
    const resume = suspendWithChildren(child!.pid!);
    await pause(milliseconds);
    resume();
  }

  run.onCleanup(kill);
  await start();
  const execute = async (...statements: string[]) => {
    const client = await connect();
    try {
      for (const statement of statements) await client.query(statement);
    } finally {
      await client.end();
    }
  };
  const create = (database: string) => execute(`create database ${database}`);
  return { port, data: dataFolder.data, log, url, connect, create, execute, kill, suspend, start };
}

/** Stops a process and its children; the returned function continues them. */
export function suspendWithChildren(parent: number) {
  const pids = [parent, ...childProcesses(parent)];
  for (const pid of pids) sendSignal(pid, 'SIGSTOP');
  return () => {
    for (const pid of pids) sendSignal(pid, 'SIGCONT');
  };
}

/** Kills a process and its children, and waits for their end. */
export async function killWithChildren(parent: number) {
  // Stopped first, so that it forks no further process.
  sendSignal(parent, 'SIGSTOP');
  const pids = [parent, ...childProcesses(parent)];
  for (const pid of pids) sendSignal(pid, 'SIGKILL');
  await waitUntil(() => !pids.some((pid) => sendSignal(pid, 0)), 30_000);
}

/** Returns whether the process existed. */
function sendSignal(pid: number, signal: NodeJS.Signals | 0) {
  try {
    return process.kill(pid, signal);
  } catch {
    return false;
  }
}

function childProcesses(parent: number) {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .filter((pid) => {
      try {
        const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
        return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]) === parent;
      } catch {
        return false;
      }
    })
    .map(Number);
}
