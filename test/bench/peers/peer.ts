import { execFile, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, existsSync, mkdirSync, openSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { freePort } from '../../support/ports.ts';
import type { Subject } from '../database.ts';
import type { Dataset } from '../dataset.ts';
import { startInSession } from '../session.ts';
import type { QueryName, NormalisedResponse } from './fields.ts';

/** A query in the peer's syntax and a function that normalises its response. */
export type PeerQuery<Name extends QueryName = QueryName> = {
  url: string;
  method: 'GET' | 'POST';
  headers: Record<string, string>;
  body?: string;
  normalise: (body: any) => NormalisedResponse[Name];
};
/** A running server and its queries. */
export type Side = { name: string; pid: number; queries: { [Name in QueryName]: PeerQuery<Name> } };

/** A third-party server; gets its own copy of the database. */
export type Peer = {
  name: string;
  packages: Record<string, string>;
  oldestNode: number;
  serve: <T>(context: PeerContext, work: (side: Side) => Promise<T>) => Promise<T>;
};
export type PeerContext = { folder: string; subject: Subject; data: Dataset };

const nodeMajor = Number(process.versions.node.split('.')[0]);
/** Reused by later runs; one folder per Node version, since native modules are compiled for it. */
const scratch = join(tmpdir(), `course-booking-peers-${userInfo().username}`, `node${nodeMajor}`);

/** Installs the peer; returns its folder, or the reason why it cannot be installed. */
export async function installPeer({
  name,
  packages,
  oldestNode,
}: Peer): Promise<{ folder: string } | { reason: string }> {
  if (nodeMajor < oldestNode) return { reason: `it needs Node ${oldestNode}` };
  const folder = join(scratch, name.toLowerCase().replaceAll(' ', '-'));
  const [wanted, done] = [JSON.stringify({ private: true, dependencies: packages }), join(folder, 'installed')];
  if (existsSync(done) && readFileSync(done, 'utf8') === wanted) return { folder };
  console.log(`${name} is being installed in ${folder}`);
  mkdirSync(folder, { recursive: true, mode: 0o755 });
  writeFileSync(join(folder, 'package.json'), wanted);
  // Install scripts may need a compiler.
  const args = ['install', '--prefix', folder, '--ignore-scripts', '--no-audit', '--no-fund', '--fetch-retries', '1'];
  try {
    await promisify(execFile)('npm', args, { cwd: folder, maxBuffer: 1e8 });
  } catch (error) {
    return { reason: (error as { stderr?: string }).stderr?.trim().slice(-500) ?? String(error) };
  }
  writeFileSync(done, wanted);
  return { folder };
}

type Program = { folder: string; args: string[]; env: Record<string, string> };
const environment = (env: Record<string, string>) => ({
  ...{ PATH: process.env['PATH'], HOME: process.env['HOME'], NODE_ENV: 'production' },
  ...env,
});

/** Runs one of the peer's commands. */
export const runNode = ({ folder, args, env }: Program) =>
  promisify(execFile)(process.execPath, args, { cwd: folder, env: environment(env), maxBuffer: 1e8 });

type ToProgram = (port: string) => Program;
type IsReady = (base: string) => Promise<boolean>;

/** Starts the peer's server and stops it after the work; output goes to `server.log` in its folder. */
export async function withNode<T>(
  program: ToProgram,
  isReady: IsReady,
  work: (server: { base: string; pid: number }) => Promise<T>,
): Promise<T> {
  // Startup takes so long that another process may have taken the port.
  const { base, child } = await start(program, isReady).catch(() => start(program, isReady));
  try {
    return await work({ base, pid: child.pid! });
  } finally {
    await stop(child);
  }
}

async function start(program: ToProgram, isReady: IsReady) {
  const port = await freePort();
  const base = `http://127.0.0.1:${port}`;
  const { folder, args, env } = program(String(port));
  const file = join(folder, 'server.log');
  const log = openSync(file, 'w');
  const child = startInSession(process.execPath, args, {
    cwd: folder,
    env: environment(env),
    stdio: ['ignore', log, log],
  });
  closeSync(log);
  const until = performance.now() + 180_000;
  while (child.exitCode === null && performance.now() < until) {
    if (await isReady(base).catch(() => false)) return { base, child };
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
  await stop(child);
  throw new Error(`${folder} did not start: ${readFileSync(file, 'utf8').slice(-2_000)}`);
}

async function stop(child: ChildProcess) {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, 'exit');
  child.kill('SIGTERM');
  const late = setTimeout(() => child.kill('SIGKILL'), 10_000);
  await ended;
  clearTimeout(late);
}

/** Moves our tables into the schema `service` and leaves `public` empty for peers that create their own tables. */
export async function moveTablesAside({ database }: Subject) {
  await database.pool.query('alter schema public rename to service');
  await database.pool.query('create schema public');
}
