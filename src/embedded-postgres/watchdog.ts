import { spawn } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { readIfExists } from './files.ts';
import { prepareFolder, type DataFolder } from './data-folder.ts';
import { childEnvironment, isAlive, isDatabaseServer, waitUntil } from './processes.ts';
import { findBinaries } from './binaries.ts';
import { openPipeForWatchdog } from './client-pipes.ts';

/**
 * The watchdog, a shell script: runs initdb if necessary, runs the server, restarts it when it dies, and stops it at the
 * pipe's end-of-file. Its reader process confirms greetings, and ends if the watchdog was killed.
 * Arguments: initdb, its sync option, then the server's command.
 */
const script = `
umask 077
[ "$(cat postgres.log 2>/dev/null | wc -c)" -lt 2000000 ] || rm -f postgres.log
exec 3<&0 </dev/null >>postgres.log 2>&1
echo '--- start'
trap '' HUP INT QUIT TERM
trap 'ending=1' USR1
ending= watchdog=$$
echo $$ >watchdog.pid
rm -rf seen/* data.new.*

(
  while read -r greeting; do
    kill -0 $watchdog || exit
    case $greeting in '' | *[!0-9a-f]*) ;; *) : >"seen/$greeting" ;; esac
  done
  exec </dev/null
  kill -0 $watchdog || { read -r server rest <data/postmaster.pid && kill -INT $server; exit; }
  while kill -USR1 $watchdog; do sleep 0.1; done
) <&3 3<&- 2>/dev/null &
reader=$!
exec 3<&-
trap 'rm -f watchdog.pid; kill -KILL $reader 2>/dev/null' EXIT
in_use() { [ -z "$ending" ] && kill -0 $reader 2>/dev/null; }

# Only the reader's signal ends the first wait early; a background job ignores an INT that comes too soon.
run() {
  "$@" &
  child=$!
  wait $child
  status=$?
  while kill -0 $child 2>/dev/null; do kill -INT $child 2>/dev/null; sleep 0.02; done
}

initdb=$1 sync=$2
shift 2
if [ ! -e data/PG_VERSION ]; then
  run "$initdb" -D data.new.$$ -U booking --auth=trust --encoding=UTF8 --locale=C --locale-provider=builtin \
    --builtin-locale=C.UTF-8 --no-instructions $sync >/dev/null
  in_use && [ $status = 0 ] && [ ! -e data ] && mv data.new.$$ data
  rm -rf data.new.$$
  [ -e data ] || exit 1
fi

failures=0
while in_use; do
  begun=$(date +%s)
  run "$@"
  [ $(($(date +%s) - begun)) -lt 10 ] || failures=0
  failures=$((failures + 1))
  [ $failures -lt 12 ] || exit 1
  in_use && sleep 0.2
done
`;

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
      `The database in ${place.data} is one of PostgreSQL ${dataVersion}, and this is ${program.major}: run \`npm run --silent cli -- upgrade-database\`, which restores a backup into a new one, or set another DATA_DIR, or DATABASE_URL.`,
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
    throw new Error(`The database cannot be started: ${(error as Error).message}`);
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
