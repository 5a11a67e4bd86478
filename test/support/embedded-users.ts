import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

export const isRoot = process.getuid?.() === 0;

type Message = {
  ready?: boolean;
  stopped?: boolean;
  socket?: string;
  notes?: string[];
  rows?: Record<string, unknown>[];
  error?: string;
};

/** A process that uses the database in `dataDir`. */
export function startUser(dataDir: string) {
  const script = fileURLToPath(new URL('embedded-user.js', import.meta.url));
  const child = spawn(process.execPath, [script, dataDir], { stdio: ['pipe', 'pipe', 'inherit'] });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const next = async (): Promise<Message> => {
    const { value, done } = await lines.next();
    if (done) throw new Error('the user has ended');
    return JSON.parse(value) as Message;
  };
  const say = (line: string) => {
    child.stdin.write(`${line}\n`);
    return next();
  };
  return {
    ready: next,
    query: say,
    stop: () => say('stop'),
    kill: async () => {
      if (child.exitCode !== null || child.signalCode !== null) return;
      const exit = once(child, 'exit');
      child.kill('SIGKILL');
      await exit;
    },
  };
}

/** Where the files of `dataDir` are. */
export function homeOf(dataDir: string) {
  const note = path.join(dataDir, 'database-location');
  return fs.existsSync(note) ? fs.readFileSync(note, 'utf8').trim() : path.join(fs.realpathSync(dataDir), 'postgres');
}

type Process = { pid: number; parent: number; command: string };

/** The processes of the database in `dataDir`: the watchdog's two and the server's. */
export function processesOf(dataDir: string) {
  const list = execFileSync('ps', ['-axww', '-o', 'pid=,ppid=,stat=,command='], { encoding: 'utf8' });
  const all = list.split('\n').flatMap((line): Process[] => {
    const [, pid, parent, state, command] = /^ *(\d+) +(\d+) +(\S+) +(.*)$/.exec(line) ?? [];
    return command === undefined || state!.startsWith('Z')
      ? []
      : [{ pid: Number(pid), parent: Number(parent), command }];
  });
  const named = all.filter(({ command }) => command.includes(`-D ${homeOf(dataDir)}/data`));
  const watchdog = named.filter(({ command }) => command.includes('watchdog=$$'));
  const masters = named.filter((one) => !watchdog.includes(one));
  const server = all.filter(({ pid, parent }) => masters.some((one) => one.pid === pid || one.pid === parent));
  const pids = (list: Process[]) => list.map(({ pid }) => pid);
  return { watchdog: pids(watchdog), server: pids(server), all: [...pids(watchdog), ...pids(server)] };
}

export function killAll(pids: number[]) {
  for (const pid of pids) {
    try {
      process.kill(pid, 'SIGKILL');
    } catch {
      // It ended with one that was killed before it.
    }
  }
}

const made: string[] = [];

/** A new DATA_DIR that any user can enter. */
export function makeDataDir(...names: string[]) {
  const root = fs.mkdtempSync(path.join(os.tmpdir(), 'embedded-'));
  fs.chmodSync(root, 0o755);
  made.push(root);
  return path.join(root, 'data', ...names);
}

/** Ends what a failed test has left, and removes all files. */
export function removeDataDirs() {
  for (const root of made.splice(0)) {
    for (const name of fs.readdirSync(root, { recursive: true, encoding: 'utf8' })) {
      if (path.basename(name) !== 'database-location') continue;
      fs.rmSync(fs.readFileSync(path.join(root, name), 'utf8').trim(), { recursive: true, force: true });
    }
    fs.rmSync(root, { recursive: true, force: true });
  }
}
