import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inject, onTestFinished } from 'vitest';
import { freePort } from './ports.ts';

type Environment = Record<string, string>;

/** Tests poll /ready instead. */
const PUBLIC_REQUESTS_PER_MINUTE = '1000000';
/** Environment without variables of the service. */
const cleanEnvironment = (env: Environment) => ({
  PATH: process.env['PATH'] ?? '',
  HOME: process.env['HOME'] ?? '/',
  PUBLIC_REQUESTS_PER_MINUTE,
  ...env,
});

/** Starts a server process, killed after the test. */
export async function startServer(env: Environment, command = [process.execPath, 'dist/main.js']) {
  const port = await freePort();
  const started = await startProcess(command, { HOST: '127.0.0.1', PORT: String(port), ...env }, 'is running at');
  return { ...started, port, url: `http://localhost:${port}` };
}

/** Starts a process, killed after the test; ready once it has printed the text. */
export const startProcess = (command: string[], env: Environment, readyText: string) =>
  watchProcess(
    spawn(command[0]!, command.slice(1), { env: cleanEnvironment(env), stdio: ['ignore', 'pipe', 'pipe'] }),
    readyText,
  );

async function watchProcess(child: ChildProcess, readyText: string) {
  let output = '';
  let errors = '';
  const ended = new Promise<number | string>((done) =>
    child.on('exit', (code, signal) => done(code ?? signal ?? 'gone')),
  );
  onTestFinished(async () => {
    child.kill('SIGKILL');
    await ended;
  });
  const ready = new Promise<void>((done) => {
    child.stdout!.on('data', (chunk: Buffer) => {
      output += chunk.toString();
      if (output.includes(readyText)) setTimeout(done, 20);
    });
    child.stderr!.on('data', (chunk: Buffer) => (errors += chunk.toString()));
  });
  await Promise.race([ready, ended]);
  return { child, ended, output: () => output, errors: () => errors, pid: child.pid! };
}

/** Runs the command line with that standard input. */
export function runCli(args: string[], env: Environment, input: string | Buffer = '') {
  return new Promise<{ code: number; stdout: string; stderr: string; json: <T = any>() => T }>((done) => {
    const child = execFile(
      process.execPath,
      ['dist/cli.js', ...args],
      { env: cleanEnvironment(env) },
      (error, stdout, stderr) => {
        const code = typeof error?.code === 'number' ? error.code : error ? -1 : 0;
        const json = <T>() => {
          if (stdout === '') throw new Error(`${args.join(' ')} ended with ${code} and says nothing but: ${stderr}`);
          return JSON.parse(stdout) as T;
        };
        done({ code, stdout, stderr, json });
      },
    );
    child.stdin!.end(input);
  });
}

/** A temporary folder, removed after the test, or after the file with `afterAll`. */
export function temporaryFolder(whenDone: (work: () => void) => void = onTestFinished) {
  const folder = mkdtempSync(join(tmpdir(), 'booking-data-'));
  // PostgreSQL does not run as root, so its files belong to another user.
  chmodSync(folder, 0o755);
  whenDone(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

export function databaseUrl(database: string) {
  const { host, port, user, password } = inject('server');
  const credentials = [user, password]
    .filter(Boolean)
    .map((part) => encodeURIComponent(String(part)))
    .join(':');
  // A socket folder is a query parameter; the URL still needs a host, which is ignored.
  if (host?.startsWith('/')) return `postgres://${credentials}@localhost/${database}?host=${encodeURIComponent(host)}`;
  return `postgres://${credentials}@${host}:${port}/${database}`;
}

/** Processes whose command line contains the text. */
export const findProcessesByArgument = (text: string) =>
  readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .filter((pid) => {
      try {
        return readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(text);
      } catch {
        return false;
      }
    })
    .map(Number);
