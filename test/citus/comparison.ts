import { openDatabase } from '../../src/database/client.ts';
import type { App } from '../../src/app.ts';
import { listUrls } from '../support/all-responses.ts';
import { collectFilterValues, buildListUrls } from '../support/list-urls.ts';
import type { Outcome, Run } from '../reliability/scenario.ts';
import { settings } from '../reliability/support/school.ts';
import { compareServers, listRequests } from '../reliability/support/version-comparison.ts';
import { query, startCitusServer, startServerOn, type Distributed } from './cluster.ts';

/**
 * Sends the same to a server on one PostgreSQL and to one on the cluster: every list of the demo school with each
 * documented parameter, and every read and write of a school with a row in every table.
 */
export async function compareWithPlain(run: Run, distributed: Distributed): Promise<Outcome> {
  const { url, plainUrl, owner, demoKey } = distributed;
  const env = { PUBLIC_URL: 'http://school.example' };
  const plain = await startServerOn(run, plainUrl, env);
  const onCitus = await startCitusServer(run, url, env);

  const { reads, writes } = await listRequests(plain.base, owner.ids);
  const headers = { 'x-api-key': demoKey };
  const lists = [...listUrls, ...(await filteredLists(plain.base, plainUrl))];
  const readsOfDemo = lists.map((path) => ({ method: 'GET', path, headers }));
  const changes = { method: 'GET', path: `/v2/changes?since=${await readCursor(plain.base, owner.me.apiKey)}` };
  const compared = await compareServers(run, [plain.base, onCitus.base], owner, {
    requests: { reads: [...reads, ...readsOfDemo, changes], writes },
    readsFirst: true,
    areTimesEqual: true,
  });
  return {
    figures: `${compared.figures}, the reads before and after the writes: ${compared.failures.length} differences`,
    failures: compared.failures.slice(0, 10),
  };
}

/** Every list with each documented parameter, alone and with others. */
async function filteredLists(base: string, url: string) {
  const [demo] = await query<{ id: number }>(url, 'select min(id)::int as id from providers');
  const times = { acquireMs: 9_000, statementMs: 9_000, writeMs: 9_000 };
  const connection = { connectionString: url };
  const database = openDatabase({ connection, timezone: settings.timezone, poolSize: 1, ...times });
  const values = await collectFilterValues(database, demo!.id).finally(() => database.close());
  const document = (await (await fetch(`${base}/openapi.json`)).json()) as object;
  const app = { swagger: () => document } as unknown as App;
  return buildListUrls(app, values).map((one) => one.url);
}

/** The end of a school's change feed. */
async function readCursor(base: string, apiKey: string) {
  const response = await fetch(`${base}/v2/changes`, { headers: { 'x-api-key': apiKey } });
  return ((await response.json()) as { cursor: string }).cursor;
}
