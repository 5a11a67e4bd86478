import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { bundle, replaceIn } from '../../support/bundle.ts';
import { failedChecks, pause, waitUntil, type Run, type Scenario } from '../scenario.ts';
import { metricsEnv, readMetrics } from '../support/metrics.ts';
import { startStandby, type Postgres } from '../support/postgres.ts';
import { cli, createSchools, type Schools } from '../support/school.ts';
import { registerSecret } from '../support/secrets.ts';
import { startServer, type Server } from '../support/server.ts';

const password = registerSecret('reader-Pa55word');
const warningText = 'the standby is not used: ';

const scenario: Scenario = {
  name: 'warnings about an unused standby',
  quick: false,
  async run(run) {
    const schools = await createSchools(run, { parameters: { fsync: 'off' } });
    const standby = await startStandby(run, schools.postgres);
    const open = await requirePassword(schools, standby);
    const used = await open(run, password);
    const refused = await open(run, 'wrong-Pa55word');
    // Negative control: a server that does not examine its standby.
    const unexamined = replaceIn('unexamined', /database\/standby\/check\.ts$/, 'if (!standby)', 'if (true)');
    const command = [process.execPath, await bundle('src/main.ts', [unexamined])];
    const silent = await open(run, 'wrong-Pa55word', command);

    const wrong = await observeWrongPassword(schools, refused);
    const faults = await observeFaults(schools, used, standby);
    const seconds = Math.ceil((performance.now() - wrong.startedAt) / 1_000);
    const refusals = warnings(refused.server).length;
    const unheard = warnings(silent.server).length;
    return {
      figures: `wrong password: ${wrong.text}; behind: ${faults.behind}; down: ${faults.down}; ${refusals} warnings in ${seconds} s; control: ${unheard} warnings of a server that does not examine it`,
      failures: failedChecks({
        ...wrong.checks,
        ...faults.checks,
        [`at most one warning a minute, and one in each (${refusals} in ${seconds} s)`]:
          refusals <= Math.ceil(seconds / 60) && refusals >= Math.floor(seconds / 71),
        'control: without the check there is no warning': unheard === 0,
      }),
    };
  },
};
export default scenario;

/** A role that may read, and whose password the standby requires. */
async function requirePassword({ postgres, env }: Schools, standby: Postgres) {
  await postgres.execute(`create role reader login password '${password}' in role pg_read_all_data`);
  const file = join(standby.data, 'pg_hba.conf');
  writeFileSync(file, `host all reader 127.0.0.1/32 scram-sha-256\n${readFileSync(file, 'utf8')}`);
  await standby.execute('select pg_reload_conf()');
  return async (run: Run, sent: string, command?: string[]) => {
    const url = new URL(standby.url('schools'));
    url.username = 'reader';
    url.password = sent;
    const all = { ...env, DATABASE_READ_URL: url.href, RESPONSE_CACHE_MB: '0', ...metricsEnv };
    return { env: all, server: await startServer(run, all, command && { command }) };
  };
}

type Opened = { env: Record<string, string>; server: Server };
type Line = { level: number; msg: string; hint?: string };

const lines = ({ output }: Server) =>
  output()
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line) as Line);
const warnings = (server: Server) =>
  lines(server).filter(({ level, msg }) => level === 40 && msg.includes(warningText));
const isLogged = (server: Server, text: string) => () =>
  warnings(server).some(({ msg, hint }) => msg.includes(text) && hint !== undefined);
const isUsedAgain = (server: Server, times: number) => () =>
  lines(server).filter(({ msg }) => msg === 'The standby is used again').length === times;

async function readStandbyMetrics(server: Server) {
  const read = await readMetrics(server);
  return {
    up: read('booking_standby_up'),
    lagSeconds: read('booking_standby_lag_seconds'),
    lagBytes: read('booking_standby_lag_bytes'),
    primary: read('booking_lists_total{source="primary"}'),
    standby: read('booking_lists_total{source="standby"}'),
  };
}

async function readDoctor({ env }: Opened) {
  const { output } = await cli(env, 'doctor', '--only', 'system', '--json');
  const { checks } = JSON.parse(output.split('\n')[0]!) as {
    checks: { check: string; level: string; message: string }[];
  };
  return checks.find(({ check }) => check === 'standby');
}

/** Each list of another page, so that none is shared. */
async function readLists({ first }: Schools, { base }: Server, lists = 20) {
  let failed = 0;
  for (let n = 1; n <= lists; n += 1)
    if ((await first.client.get(`${base}/v2/courses?limit=5&since_id=${n}`)).status !== 200) failed += 1;
  return failed;
}

async function observeWrongPassword(schools: Schools, opened: Opened) {
  const startedAt = performance.now();
  const loggedMs = await waitUntil(isLogged(opened.server, 'it refuses the connection: password'), 20_000);
  const failed = await readLists(schools, opened.server);
  const metrics = await readStandbyMetrics(opened.server);
  const doctor = await readDoctor(opened);
  return {
    startedAt,
    text: `logged in ${Math.round(loggedMs)} ms, up ${metrics.up}, ${metrics.primary} lists from the primary`,
    checks: {
      'a wrong password is logged': loggedMs < Infinity,
      [`booking_standby_up is 0 (${metrics.up})`]: metrics.up === 0,
      [`its lists come from the primary (${metrics.primary}, ${failed} failed)`]:
        failed === 0 && metrics.primary >= 20 && metrics.standby === 0,
      'doctor warns of a wrong password':
        doctor?.level === 'warning' && doctor.message.includes('check the user, password'),
    },
  };
}

async function observeFaults(schools: Schools, opened: Opened, standby: Postgres) {
  const { server } = opened;
  await readLists(schools, server);
  let metrics = await readStandbyMetrics(server);
  // The lag is of the latest examination, which may be between a commit and its replay.
  await waitUntil(async () => {
    metrics = await readStandbyMetrics(server);
    return metrics.lagSeconds < 1;
  }, 20_000);
  const healthy = {
    ...metrics,
    doctor: await readDoctor(opened),
    warnings: warnings(server).length,
  };

  await standby.execute('select pg_wal_replay_pause()');
  const write = () => schools.first.client.post(`${server.base}/v2/courses`, { title: 'Written while it is paused' });
  await write();
  const behindMs = await waitUntil(isLogged(server, 'seconds behind'), 40_000);
  const behind = { ...(await readStandbyMetrics(server)), doctor: await readDoctor(opened) };
  await standby.execute('select pg_wal_replay_resume()');
  const resumedMs = await waitUntil(isUsedAgain(server, 1), 25_000);

  await standby.kill();
  const downMs = await waitUntil(isLogged(server, 'it cannot be reached'), 75_000);
  const down = { ...(await readStandbyMetrics(server)), doctor: await readDoctor(opened) };
  await standby.start();
  const startedMs = await waitUntil(isUsedAgain(server, 2), 90_000);
  await pause(1_100);
  const before = await readStandbyMetrics(server);
  await readLists(schools, server);
  const after = await readStandbyMetrics(server);
  return {
    behind: `logged after ${Math.round(behindMs / 1_000)} s at ${behind.lagSeconds.toFixed(1)} s and ${behind.lagBytes} bytes`,
    down: `logged after ${Math.round(downMs / 1_000)} s, used again after ${Math.round(startedMs / 1_000)} s`,
    checks: {
      [`a standby that is used is up, read and not warned of (${JSON.stringify(healthy)})`]:
        healthy.up === 1 && healthy.standby >= 20 && healthy.lagSeconds < 1 && healthy.warnings === 0,
      'doctor finds it': healthy.doctor?.level === 'ok',
      'a lagging standby is logged': behindMs < Infinity,
      [`its lag is measured (${behind.lagSeconds} s, ${behind.lagBytes} bytes)`]:
        behind.up === 1 && behind.lagSeconds >= 10 && behind.lagBytes > 0,
      'doctor names the paused replay': behind.doctor?.message.includes('its replay is paused') ?? false,
      'the log says that it is used again': resumedMs < Infinity && startedMs < Infinity,
      'an unreachable standby is logged': downMs < Infinity,
      [`booking_standby_up is 0 while it is down (${down.up})`]: down.up === 0 && Number.isNaN(down.lagSeconds),
      'doctor warns of it': down.doctor?.message.includes('ECONNREFUSED') ?? false,
      [`lists come from it again (${after.standby - before.standby} of 20)`]: after.standby - before.standby >= 20,
    },
  };
}
