import { spawn } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { readIfThere } from './files.ts';
import { prepare, type Place } from './data-folder.ts';
import { childEnvironment, isAlive, isServerOf, until } from './processes.ts';
import { findProgram } from './binaries.ts';
import { openPipe } from './client-pipes.ts';

/**
 * The watchdog, in the shell: it makes the database when there is none, runs the server, restarts it when it dies, and
 * stops it at the end of the pipe. Its reader answers those who greet, and goes when the rest of it was killed.
 * Arguments: initdb, its option about syncing, then the server's command.
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

/** Small, and silent about what the statements hold. The server's errors are answered to those who made them. */
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

export type Tuning = { fsync?: boolean; settings?: Record<string, string> };

/** Starts the watchdog, after having stopped a server that lost its own; to be done by one process at a time. */
export async function startWatchdog(place: Place, { fsync = true, settings: extra = {} }: Tuning) {
  await prepare(place);
  const program = await findProgram(place);
  const written = readIfThere(path.join(place.data, 'PG_VERSION'));
  if (written !== undefined && written !== program.major) {
    throw new Error(
      `The database in ${place.data} is one of PostgreSQL ${written}, and this is ${program.major}: set another DATA_DIR, or DATABASE_URL.`,
    );
  }
  await stopOrphan(place.data);

  const folder = `"${place.socket.replaceAll('"', '""')}"`;
  const all = { ...settings, ...(fsync ? {} : withoutSync), ...extra, unix_socket_directories: folder };
  const server = [
    program.postgres,
    '-D',
    place.data,
    ...Object.entries(all).flatMap(([name, value]) => ['-c', `${name}=${value}`]),
  ];
  const { read, write } = openPipe(place.home);
  try {
    await new Promise<void>((resolve, reject) => {
      spawn(
        '/bin/sh',
        ['-c', script, 'watchdog', program.initdb, fsync ? '--sync-method=fsync' : '--no-sync', ...server],
        {
          ...place.owner,
          cwd: place.home,
          env: childEnvironment,
          // A session of its own: Ctrl-C in our terminal is not for it.
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

/** The watchdog's process, while there is one. */
export function toWatchdogOptions(home: string) {
  const pid = Number(readIfThere(path.join(home, 'watchdog.pid')) || 0);
  return pid > 1 && isAlive(pid) ? pid : undefined;
}

async function stopOrphan(data: string) {
  const file = path.join(data, 'postmaster.pid');
  const pid = Number.parseInt(readIfThere(file) ?? '');
  if (!(pid > 1)) return;
  const gone = async () => !isAlive(pid) || !(await isServerOf(data, pid));
  for (const [signal, patience] of [
    ['SIGINT', 8000],
    ['SIGQUIT', 3000],
    ['SIGKILL', 3000],
  ] as const) {
    if (await gone()) break;
    try {
      process.kill(pid, signal);
    } catch {
      // It has just ended.
    }
    await until(gone, patience);
  }
  // PostgreSQL would take a process that got the same number later for its own, and not start.
  if ((await gone()) && Number.parseInt(readIfThere(file) ?? '') === pid) fs.rmSync(file, { force: true });
}
