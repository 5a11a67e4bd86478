import { afterAll, expect, test } from 'vitest';
import { localTables, referenceTables } from '../../../src/database/distribution.ts';
import { createOwner, getEndpoints, readRequests } from '../../support/isolation.ts';
import { recordStatements } from '../../support/record-statements.ts';
import { openTestApp, openTestDatabase, ownDatabase, send, settings } from '../../support/test-app.ts';

const name = await ownDatabase(afterAll);
const testApp = await openTestApp(openTestDatabase(name));
const distributed = await openTestApp(openTestDatabase(name), { settings: { ...settings, isDistributed: true } });
afterAll(async () => {
  await testApp.close();
  await distributed.close();
});
const { me, ids } = await createOwner(testApp);

const tenantTables = await readTenantTables();
async function readTenantTables() {
  const text = `select relname as name from pg_class where relkind = 'r' and relnamespace = 'public'::regnamespace`;
  const { rows } = await testApp.database.pool.query<{ name: string }>(text);
  const others = new Set([...referenceTables, ...localTables]);
  return new Set(rows.map((row) => row.name).filter((table) => !others.has(table)));
}

/** The tables of a statement whose provider is neither compared with a parameter nor joined by. */
function findUnnamed(text: string) {
  const keyword = '(?!where|on|order|limit|inner|left|cross|join|group)';
  return [...text.matchAll(new RegExp(`\\b(?:from|join) "?(\\w+)"?(?: "?${keyword}(\\w+)"?)?`, 'g'))]
    .filter(([, table = '']) => tenantTables.has(table))
    .map(([, table, alias]) => alias ?? table!)
    .filter((one) => {
      const column = `(?:"?\\b${one}"?\\.|(?<!\\."?))"?\\bprovider_id\\b"?`;
      return !new RegExp(`${column} = (?:\\$?\\d|"?\\w+"?\\.)|"?\\w+"?\\."?provider_id"? = ${column}`).test(text);
    });
}

/** Reads everything of the school with a row in every table; returns the responses and the statements. */
async function readAll({ app }: typeof testApp) {
  const headers = { 'x-api-key': me.apiKey };
  const urls = getEndpoints(testApp)
    .filter(({ method }) => method === 'GET')
    .flatMap((endpoint) => readRequests(endpoint, ids))
    .filter(({ partnerQuery }) => partnerQuery === '')
    .map(({ url }) => url);
  const responses: unknown[] = [];
  const sent = await recordStatements(async () => {
    for (const url of urls) {
      const { status, text } = await send(app, { url, headers });
      responses.push([url, status, text.replace(/"server_time":"[^"]+"/, '')]);
    }
  });
  const texts = [...new Set(sent.map(({ text }) => text.replaceAll(/\s+/g, ' ')))];
  return { responses, unnamed: texts.filter((text) => findUnnamed(text).length > 0) };
}

test('in a distributed database each read of a school names it for each table, and its responses are the same', async () => {
  const plain = await readAll(testApp);
  const named = await readAll(distributed);
  expect(named.responses).toEqual(plain.responses);
  expect(named.responses.length).toBeGreaterThan(100);
  expect(named.unnamed).toEqual([]);
  // Relations do not, on one server.
  expect(plain.unnamed.length).toBeGreaterThan(10);
});
