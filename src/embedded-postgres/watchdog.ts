import { spawn } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { readIfExists } from './files.ts';
import { prepareFolder, type DataFolder } from './data-folder.ts';
import { childEnvironment, isAlive, isDatabaseServer, waitUntil } from './processes.ts';
import { findBinaries } from './binaries.ts';
import { openPipeForWatchdog } from './client-pipes.ts';

const script = fs.readFileSync(path.join(import.meta.dirname, 'watchdog.sh'), 'utf8');

/** Low memory, and no statements in the log: clients get their errors anyway. */
const settings = {
  listen_addresses: '',
  port: '5432',
  unix_socket_permissions: '0700',
  max_connections: '60',
  log_min_messages: 'log',
  log_min_error_statement: 'panic',
  log_error_verbosity: 'terse',
  log_checkpoints: 'off',
  wal_level: 'minimal',
  max_wal_senders: '0',
  max_logical_replication_workers: '0',
  max_wal_size: '256MB',
  io_method: 'sync',
  jit: 'off',
};

const withoutSync = { fsync: 'off', full_page_writes: 'off' };

export type ServerOptions = { fsync?: boolean; settings?: Record<string, string> };

/** Starts the watchdog, after stopping a server without one. Call under the lock. Returns the pipe's open write end. */
export async function startWatchdog(place: DataFolder, { fsync = true, settings: extra = {} }: ServerOptions) {
  await prepareFolder(place);
  const program = await findBinaries(place);
  const dataVersion = readIfExists(path.join(place.data, 'PG_VERSION'));
  if (dataVersion !== undefined && dataVersion !== program.major) {
    throw new Error(
      `The database in ${place.data} is one of PostgreSQL ${dataVersion}, and this is ${program.major}: back it up by \`npm run --silent cli -- backup\` of the version of this service that came with PostgreSQL ${dataVersion}, move it aside by \`mv ${place.data} ${place.data}-${dataVersion}\`, and run \`npm run --silent cli -- restore FILE --into embedded\` with this version`,
    );
  }
  await stopOrphanedServer(place.data);

  const folder = `"${place.socket.replaceAll('"', '""')}"`;
  const allSettings = { ...settings, ...(fsync ? {} : withoutSync), ...extra, unix_socket_directories: folder };
  const server = [
    program.postgres,
    '-D',
    place.data,
    ...Object.entries(allSettings).flatMap(([name, value]) => ['-c', `${name}=${value}`]),
  ];
  const { read, write } = openPipeForWatchdog(place.home);
  try {
    await new Promise<void>((resolve, reject) => {
      spawn(
        '/bin/sh',
        ['-c', script, 'watchdog', program.initdb, fsync ? '--sync-method=fsync' : '--no-sync', ...server],
        {
          ...place.owner,
          cwd: place.home,
          env: childEnvironment,
          // A new session, so that Ctrl-C in our terminal does not reach it.
          detached: true,
          stdio: [read, 'ignore', 'ignore'],
        },
      )
        .once('spawn', resolve)
        .once('error', reject)
        .unref();
    });
    return write;
  } catch (error) {
    fs.closeSync(write);
    throw new Error(`The database cannot be started: ${error instanceof Error ? error.message : String(error)}`);
  } finally {
    fs.closeSync(read);
  }
}

/** Undefined if no watchdog runs. */
export function findWatchdogPid(home: string) {
  const pid = Number(readIfExists(path.join(home, 'watchdog.pid')) || 0);
  return pid > 1 && isAlive(pid) ? pid : undefined;
}

async function stopOrphanedServer(data: string) {
  const file = path.join(data, 'postmaster.pid');
  const pid = Number.parseInt(readIfExists(file) ?? '');
  if (!(pid > 1)) return;
  const isGone = async () => !isAlive(pid) || !(await isDatabaseServer(data, pid));
  for (const [signal, timeoutMs] of [
    ['SIGINT', 8000],
    ['SIGQUIT', 3000],
    ['SIGKILL', 3000],
  ] as const) {
    if (await isGone()) break;
    try {
      process.kill(pid, signal);
    } catch {
      // Already ended.
    }
    await waitUntil(isGone, timeoutMs);
  }
  // PostgreSQL would mistake a process with the reused id for its own server, and not start.
  if ((await isGone()) && Number.parseInt(readIfExists(file) ?? '') === pid) fs.rmSync(file, { force: true });
}
