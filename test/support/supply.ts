/**
 * What the service brings along from others: nothing of it is known to be unsafe, where the registry tells, and nothing of
 * it has to run as it is installed.
 */
import { spawn, spawnSync } from 'node:child_process';
import { chmodSync, cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePort } from './ports.ts';

type Audit = { metadata?: { vulnerabilities: Record<string, number> }; message?: string };

const faults = [...findVulnerabilities(), ...(await startWithoutScripts())];
for (const fault of faults) console.error(fault);
process.exit(faults.length === 0 ? 0 : 1);

function findVulnerabilities() {
  const { stdout } = spawnSync('npm', ['audit', '--omit=dev', '--json'], { encoding: 'utf8', timeout: 120_000 });
  const { metadata, message = 'no answer' } = parsed(stdout);
  if (metadata === undefined) {
    console.log(`npm audit: skipped, since the registry does not serve it (${message})`);
    return [];
  }
  const { total = 0, ...levels } = metadata.vulnerabilities;
  if (total > 0) return [`npm audit: ${JSON.stringify(levels)}; \`npm audit --omit=dev\` names them`];
  console.log('npm audit: no dependency is known to be unsafe');
  return [];
}

function parsed(text: string): Audit {
  try {
    return JSON.parse(text) as Audit;
  } catch {
    return {};
  }
}

/** Installs what production has, with its embedded database, and starts the server from there. */
async function startWithoutScripts() {
  const folder = mkdtempSync(join(tmpdir(), 'booking-production-'));
  // As root the database runs as another user, which shall find its files here.
  chmodSync(folder, 0o755);
  try {
    for (const name of ['.npmrc', 'package.json', 'package-lock.json', 'migrations', 'dist'])
      cpSync(name, join(folder, name), { recursive: true });
    const args = ['ci', '--omit=dev', '--ignore-scripts', '--prefer-offline', '--no-audit', '--no-fund'];
    const installed = spawnSync('npm', args, { cwd: folder, stdio: ['ignore', 'ignore', 'inherit'] });
    if (installed.status !== 0) return ['the production packages cannot be installed'];
    return await startIn(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function startIn(folder: string) {
  const port = await freePort();
  const server = spawn(process.execPath, ['dist/main.js'], {
    cwd: folder,
    env: { PATH: process.env['PATH'] ?? '', PORT: String(port), DATA_DIR: join(folder, 'data'), NODE_ENV: 'production' },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let printed = '';
  const keep = (chunk: Buffer) => void (printed += chunk.toString());
  server.stdout.on('data', keep);
  server.stderr.on('data', keep);
  const ended = new Promise((done) => server.on('exit', done));
  const isReady = () => fetch(`http://127.0.0.1:${port}/ready`).then(
    ({ ok }) => ok,
    () => false,
  );
  try {
    for (const until = Date.now() + 120_000; Date.now() < until && server.exitCode === null; await sleep(200)) {
      if (!(await isReady())) continue;
      console.log('npm ci --omit=dev --ignore-scripts: the server and its embedded database start');
      return [];
    }
    return [`without install scripts the server does not start: ${printed}`];
  } finally {
    server.kill('SIGTERM');
    await ended;
  }
}
