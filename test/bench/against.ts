import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { Cleanup } from '../reliability/scenario.ts';
import { temporaryFolder } from '../reliability/support/folder.ts';
import { startPostgres, type Postgres } from '../reliability/support/postgres.ts';
import { startServer } from '../reliability/support/server.ts';
import { withCleanup } from './booking-cost.ts';
import { median } from './figures.ts';
import { assertStatus, runLoad, warmUp } from './load.ts';

/** Rates of the demo school's cached lists, and ratios of the rounds: this build to the other, and to itself. */
export type AgainstFigures = {
  name: string;
  perSecond: number;
  before: number;
  ratio: number;
  /** Lowest and highest ratio of two servers of this build. */
  same: [number, number];
};

const lists = {
  durations: '/v2/durations',
  coursedates: '/v2/coursedates',
  courses: '/v2/courses',
  participants: '/v2/participants',
  orders: '/v2/orders?user_data=true',
};
const minRounds = 7;

/** Measures cached lists of this build and of that commit in turns, and this build a second time as the control. */
export async function measureAgainst(commit: string, length: { rounds: number; seconds: number }) {
  const rounds = Math.max(minRounds, length.rounds);
  return withCleanup(async (run) => {
    const other = await buildCommit(run, commit);
    const postgres = await startPostgres(run);
    const servers = [
      await startDemo(run, postgres, { name: 'now', folder: '.' }),
      await startDemo(run, postgres, { name: 'before', folder: other }),
      await startDemo(run, postgres, { name: 'control', folder: '.' }),
    ];
    const figures: AgainstFigures[] = [];
    for (const [name, path] of Object.entries(lists)) {
      const loads = servers.map(({ base, headers }) => toLoad(base + path, headers));
      for (const load of loads) await warmUp(load, { rounds });
      const rates: [number, number, number][] = [];
      for (let round = 0; round < rounds; round += 1) rates.push(await measureRound(loads, round, length.seconds));
      const same = rates.map(([now, , control]) => control / now);
      figures.push({
        name,
        perSecond: median(rates.map(([now]) => now)),
        before: median(rates.map(([, before]) => before)),
        ratio: median(rates.map(([now, before]) => now / before)),
        same: [Math.min(...same), Math.max(...same)],
      });
    }
    return figures;
  });
}

const toLoad = (url: string, headers: Record<string, string>) => ({
  ...{ url, headers, method: 'GET' as const },
  ...{ connections: 8, status: '200' as const },
});

/** Each round begins with another server, to cancel out order effects. */
async function measureRound(loads: ReturnType<typeof toLoad>[], round: number, seconds: number) {
  const rates: [number, number, number] = [0, 0, 0];
  for (let turn = 0; turn < loads.length; turn += 1) {
    const n = (round + turn) % loads.length;
    const figures = await runLoad({ ...loads[n]!, seconds });
    assertStatus('200', figures);
    rates[n] = figures.perSecond;
  }
  return rates;
}

/** Builds the commit in a worktree, with its own packages if its lock file differs. */
export async function buildCommit(run: Cleanup, commit: string) {
  const id = execFileSync('git', ['rev-parse', '--verify', `${commit}^{commit}`], { encoding: 'utf8' }).trim();
  mkdirSync('.cache', { recursive: true });
  const folder = resolve('.cache', `bench-${process.pid}`);
  run.onCleanup(() => {
    rmSync(folder, { recursive: true, force: true });
    execFileSync('git', ['worktree', 'prune']);
  });
  execFileSync('git', ['worktree', 'add', '--detach', '--quiet', folder, id]);
  const isLockEqual = readFileSync('package-lock.json').equals(readFileSync(join(folder, 'package-lock.json')));
  if (isLockEqual) symlinkSync(resolve('node_modules'), join(folder, 'node_modules'));
  else execFileSync('npm', ['ci', '--no-audit', '--no-fund'], { cwd: folder, stdio: ['ignore', 2, 2] });
  execFileSync('npm', ['run', '--silent', 'build'], { cwd: folder, stdio: ['ignore', 2, 2] });
  return folder;
}

/** Starts a production server on a new database with the demo data. */
async function startDemo(run: Cleanup, postgres: Postgres, { name, folder }: { name: string; folder: string }) {
  await postgres.create(name);
  const dataFolder = temporaryFolder(run);
  const { scripts } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as { scripts: { start: string } };
  const env = { DATABASE_URL: postgres.url(name), DATA_DIR: dataFolder, DEMO_DATA: 'true', LOG_LEVEL: 'error' };
  const { base } = await startServer(run, env, {
    command: ['sh', '-c', `cd '${resolve(folder)}' && ${scripts.start}`],
  });
  const apiKey = readFileSync(join(dataFolder, 'demo-api-key'), 'utf8').trim();
  return { base, headers: { 'x-api-key': apiKey } };
}
