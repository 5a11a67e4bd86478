import { openDatabase, type Database } from '../../../src/database/client.ts';
import { migrateDatabase } from '../../../src/database/migrate.ts';
import { createTitledProvider } from '../../../src/domains/school/schools/service.ts';
import { freePort } from '../../support/ports.ts';
import { bundleWithoutGuards } from '../../support/unguarded.ts';
import { failedChecks, pause, type Run, type Scenario } from '../scenario.ts';
import { findFaults, findOpenOrders, findWrongRows, type Faults } from '../support/conservation.ts';
import { fillSchool, startClients, type MixedSchool } from '../support/mixed-operations.ts';
import { startPostgres, type Postgres } from '../support/postgres.ts';
import { cli } from '../support/school.ts';
import { startServer, type Server } from '../support/server.ts';

const [schoolCount, datesPerSchool, minimum] = [2, 10, 500];

const scenario: Scenario = {
  name: 'mixed operations on places and money, servers killed',
  quick: false,
  async run(run) {
    const rounds = Number(process.env['MIXED_ROUNDS'] ?? 5);
    const seconds = Number(process.env['MIXED_SECONDS'] ?? 60);
    const failures: string[] = [];
    const figures: string[] = [];
    for (let round = 1; round <= rounds; round += 1) {
      const { clients, kills, faults, lapsed } = await observe(run, `round_${round}`, seconds, startGuarded);
      const done = [...clients.done.values()].reduce((sum, count) => sum + count, 0);
      const kinds = [...clients.done].map(([kind, count]) => `${count} ${kind}`).join(', ');
      figures.push(`${done} operations (${kinds}), ${clients.refused} refused, ${clients.cut} cut, ${lapsed} lapsed`);
      failures.push(
        ...failedChecks({
          [`${minimum} operations or more (${done})`]: done >= minimum,
          'five kills': kills === 5,
          [`every kind succeeds (${kinds})`]: clients.done.size >= 8,
          [`every answer is one of the rules, not ${clients.unexpected[0]}`]: clients.unexpected.length === 0,
        }),
        ...describeFaults(faults).map((fault) => `round ${round}: ${fault}`),
      );
    }
    // Negative control: one of some rounds without the lock must break a rule.
    let detected: string[] = [];
    for (let n = 1; n <= 3 && detected.length === 0; n += 1)
      detected = describeFaults((await observe(run, `control_${n}`, 15, startUnguarded)).faults);
    if (detected.length === 0) failures.push('control: nothing is wrong without the lock');
    return { figures: `${figures.join('; ')}; control: ${detected.length} rules broken without the lock`, failures };
  },
};
export default scenario;

const describeFaults = (faults: Faults) =>
  Object.entries(faults).flatMap(([kind, rows]) =>
    rows.length === 0 ? [] : [`${rows.length} ${kind}: ${JSON.stringify(rows[0])}`],
  );

type Start = (run: Run, postgres: Postgres, name: string, port?: number) => Promise<Server>;

const startGuarded: Start = (run, postgres, name, port) =>
  startServer(run, { DATABASE_URL: postgres.url(name), MAIL_TO_FILES: 'true' }, { ...(port && { port }) });

const startUnguarded: Start = async (run, postgres, name) => {
  const port = await freePort();
  const program = await bundleWithoutGuards('test/support/unlocked-server.ts', ['lock', 'queue', 'voucherBalance']);
  const command = [process.execPath, program, postgres.url(name), String(port)];
  return startServer(run, {}, { command, port });
};

/** One round: 16 clients at two servers, of which one is killed five times. */
async function observe(run: Run, name: string, seconds: number, start: Start) {
  const postgres = await startPostgres(run);
  await postgres.create(name);
  const connection = { connectionString: postgres.url(name) };
  await migrateDatabase(connection);
  const database = openDatabase({
    ...{ connection, timezone: 'Europe/Oslo', poolSize: 4, acquireMs: 3e4, statementMs: 3e4, writeMs: 3e4 },
  });
  run.onCleanup(() => database.close());
  const isGuarded = start === startGuarded;
  const servers = [await start(run, postgres, name), await start(run, postgres, name)];
  const keys = [];
  for (let n = 1; n <= schoolCount; n += 1) keys.push(await createTitledProvider(database, `School ${n}`, null));
  const schools: MixedSchool[] = [];
  for (const { providerId, apiKey } of keys)
    schools.push(await fillSchool(servers[0]!.base, providerId, apiKey, datesPerSchool));
  if (!isGuarded) await database.pool.query('alter table vouchers drop constraint vouchers_balance');

  let turn = 0;
  const clients = startClients(schools, () => servers[(turn += 1) % servers.length]!.base, { random: run.random });
  const sampler = startSampler(database, schools, isGuarded);
  let kills = 0;
  if (isGuarded) kills = await killRepeatedly(run, servers, seconds, start, postgres, name);
  else await pause(seconds * 1_000);
  await clients.stop();
  const lapsed = await sampler.stop();
  const reader = database.pool;
  const faults: Faults = { 'samples with wrong rows': sampler.wrong };
  for (const school of schools) Object.assign(faults, prefixed(school.id, await findFaults(reader, school)));
  if (isGuarded) {
    // Requests that were cut off still run, and offers that have run out end: both change what is due.
    await pause(15_000);
    for (const school of schools)
      faults[`${school.id} unsettled orders`] = await settle(servers[0]!.base, school, reader);
    const doctor = await cli({ DATABASE_URL: postgres.url(name) }, 'doctor', '--only', 'data');
    faults['doctor'] = doctor.code === 0 ? [] : [doctor.output];
  }
  for (const server of servers) server.signal('SIGKILL');
  return { clients, kills, faults, lapsed };
}

const prefixed = (id: number, faults: Faults) =>
  Object.fromEntries(Object.entries(faults).map(([kind, rows]) => [`${id} ${kind}`, rows]));

async function killRepeatedly(
  run: Run,
  servers: Server[],
  seconds: number,
  start: Start,
  postgres: Postgres,
  name: string,
) {
  let kills = 0;
  const startedAt = performance.now();
  for (; kills < 5; kills += 1) {
    const at = startedAt + ((kills + 0.5 + run.random() / 4) * seconds * 1_000) / 5;
    await pause(Math.max(0, at - performance.now()));
    const killed = servers[kills % servers.length]!;
    killed.signal('SIGKILL');
    await killed.ended;
    servers[kills % servers.length] = await start(run, postgres, name, killed.port);
  }
  await pause(Math.max(0, startedAt + seconds * 1_000 - performance.now()));
  return kills;
}

/** Reads the rules five times a second, and lets a part of the open offers run out. */
function startSampler(database: Database, schools: MixedSchool[], isGuarded: boolean) {
  const wrong: unknown[] = [];
  let [stopping, lapsed] = [false, 0];
  const lapse = `update participants set held_until = now()
    where provider_id = $1 and held_until > now() and id % 3 = (extract(second from now()))::int % 3`;
  const run = async () => {
    while (!stopping) {
      for (const school of schools) {
        const faults = await findWrongRows(database.pool, school);
        wrong.push(...Object.values(faults).flat());
        if (isGuarded)
          await database.write([school.id], ['people', 'dates'], async ({ tx }) => {
            const { rowCount } = await tx.$client.query(lapse, [school.id]);
            lapsed += rowCount ?? 0;
            if (rowCount === 0) tx.rollBack();
          });
      }
      await pause(200);
    }
  };
  const ended = run();
  return {
    wrong,
    stop: async () => {
      stopping = true;
      await ended;
      return lapsed;
    },
  };
}

/** Pays and refunds by the interface what is due and owed; returns the orders of which something stays. */
async function settle(base: string, school: MixedSchool, reader: Database['pool']) {
  const refused: unknown[] = [];
  for (const { id, due } of await findOpenOrders(reader, school)) {
    const { status, text } = await school.client.post(`${base}/v2/orders/${id}/payments`, {});
    const { amount } = JSON.parse(text) as { amount?: number };
    if (status !== 201 || amount !== due) refused.push({ id, due, status, text });
  }
  return [...refused, ...(await findOpenOrders(reader, school))];
}
