import { readFileSync, readdirSync } from 'node:fs';
import type { Client } from 'pg';
import { failedChecks, pause, percentile, waitUntil, type Scenario } from '../scenario.ts';
import { createSchools, type Schools } from '../support/school.ts';
import { startServer } from '../support/server.ts';
import { withReceivers } from '../support/webhooks.ts';

const [schoolCount, perSchool, serverCount] = [1_000, 20, 2];
/** Milliseconds, and the share of a core. */
const limits = { claim: 5, core: 0.01 };

const scenario: Scenario = {
  name: 'idle webhooks',
  quick: false,
  async run(run) {
    const schools = await createSchools(run);
    const client = await schools.postgres.connect('schools');
    run.onCleanup(() => client.end());
    const server = () => startServer(run, withReceivers(schools));
    const servers = await Promise.all(Array.from({ length: serverCount }, server));
    const empty = await measureClaims(client);
    await addIdleWebhooks(client);
    const count = async () => {
      const { rows } = await client.query<{ count: number }>(
        'select count(*)::int as count from webhooks where is_waiting',
      );
      return rows[0]!.count;
    };
    const settledMs = await waitUntil(async () => (await count()) === 0, 60_000);
    const claims = await measureClaims(client);
    const seconds = run.quick ? 10 : 30;
    const before = readCpuSeconds(schools, servers);
    await pause(seconds * 1_000);
    const after = readCpuSeconds(schools, servers);
    const ofServer = used(before.servers, after.servers) / seconds / serverCount;
    const ofDatabase = used(before.database, after.database) / seconds / serverCount;

    await client.query(readFileSync('test/reliability/support/former-claim.sql', 'utf8'));
    const control = await measure(client, 'select from former_claim_webhooks(32, 16, 2, null)', 3);
    const percent = (share: number) => `${(share * 100).toFixed(2)} %`;
    const ms = (value: number) => `${value.toFixed(1)} ms`;
    const [median, p95] = [percentile(claims, 0.5), percentile(claims, 0.95)];
    return {
      figures: `${schoolCount * perSchool} idle webhooks: claim median ${ms(median)}, p95 ${ms(p95)} (none: ${ms(percentile(empty, 0.5))}); ${serverCount} idle servers, each ${percent(ofServer)} of a core and ${percent(ofDatabase)} in the database; control, the search of all webhooks: ${ms(percentile(control, 0.5))}`,
      failures: failedChecks({
        'all webhooks are marked as idle': Number.isFinite(settledMs),
        [`a claim takes at most ${limits.claim} ms (${ms(median)})`]: median <= limits.claim,
        [`an idle server uses at most 1 % of a core (${percent(ofServer)})`]: ofServer <= limits.core,
        [`and of the database's core (${percent(ofDatabase)})`]: ofDatabase <= limits.core,
        'control: the search of all webhooks takes ten times as long': percentile(control, 0.5) > 10 * median,
      }),
    };
  },
};
export default scenario;

async function measure(client: Client, text: string, times: number) {
  const elapsed: number[] = [];
  for (let n = 0; n < times; n += 1) {
    const startedAt = performance.now();
    await client.query({ name: text.slice(0, 40), text });
    elapsed.push(performance.now() - startedAt);
    await pause(20);
  }
  return elapsed;
}
const measureClaims = (client: Client) => measure(client, 'select from claim_webhooks(32, 16, 8, 2)', 100);

/** Webhooks of schools with one event, which they have got. Servers mark them as idle by their claims. */
async function addIdleWebhooks(client: Client) {
  await client.query(`
    with school as (
      insert into providers (title, slug, created_at, updated_at)
      select 'Idle ' || n, 'idle-' || n, now(), now() from generate_series(1, ${schoolCount}) n returning id)
    insert into provider_state (provider_id, changed_at, catalog_changed_at, dates_changed_at, people_changed_at,
      money_changed_at, school_changed_at)
    select id, now(), now(), now(), now(), now(), now() from school`);
  await client.query(`
    insert into events (provider_id, at, resource, change, resource_id)
    select provider_id, now(), 'tag', 'created', 1 from provider_state`);
  await client.query(`
    insert into webhooks (provider_id, url, host, secret, position, position_clock, due_at, created_at, updated_at)
    select e.provider_id, 'https://receiver.example/', 'receiver.example', 'whsec_AAAA', max(e.id), 0, now(), now(), now()
    from events e, generate_series(1, ${perSchool}) n group by e.provider_id, n`);
  await client.query('analyze webhooks; analyze events; analyze providers');
}

/** Returns the CPU time of each server and of each process of the database server. */
function readCpuSeconds({ postgres }: Schools, servers: { pid: number }[]) {
  const postmaster = Number(readFileSync(`${postgres.data}/postmaster.pid`, 'utf8').split('\n')[0]);
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  const isOfServer = (pid: number) => servers.some((server) => server.pid === pid);
  const found = { servers: new Map<number, number>(), database: new Map<number, number>() };
  for (const pid of pids.map(Number)) {
    let stat;
    try {
      stat = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]!.split(' ');
    } catch {
      // It has ended.
      continue;
    }
    const seconds = (Number(stat[11]) + Number(stat[12])) / 100;
    if (isOfServer(pid)) found.servers.set(pid, seconds);
    else if (Number(stat[1]) === postmaster) found.database.set(pid, seconds);
  }
  return found;
}

const used = (before: Map<number, number>, after: Map<number, number>) =>
  [...after].reduce((total, [pid, seconds]) => total + seconds - (before.get(pid) ?? 0), 0);
