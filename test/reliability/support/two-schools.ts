import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Run } from '../scenario.ts';
import { cli } from './cli.ts';
import { temporaryFolder } from './folder.ts';
import type { Postgres } from './postgres.ts';
import { startServer, stop } from './server.ts';

/** Marker in every name and title of the other school. */
export const marker = 'OWNED-7f3a';
const firstForeignId = 700_000_001;
/** True if a text contains the other school's marker or an id that only its rows have. */
export const isForeign = (text: string) => text.includes(marker) || /(?<!\d)7000\d{5}(?!\d)/.test(text);

/** A database with the demo school, whose key is returned, and a copy of it under other names and ids. */
export async function createTwoSchools(run: Run, postgres: Postgres, database: string) {
  const folder = temporaryFolder(run);
  const env = { DATABASE_URL: postgres.url(database), DATA_DIR: folder, LOG_LEVEL: 'trace' };
  await postgres.create(database);
  await cli(['migrate'], env);
  const server = await startServer(run, { ...env, DEMO_DATA: 'true' });
  const apiKey = readFileSync(join(folder, 'demo-api-key'), 'utf8').trim();
  await stop(server);

  const file = join(folder, 'school.ndjson');
  await cli(['export', file, '--provider', '1'], env);
  const client = await postgres.connect(database);
  const { rows: before } = await client.query<{ name: string; at: string }>(
    `select quote_ident(sequencename) as name, coalesce(last_value, 1) as at from pg_sequences where schemaname = 'public'`,
  );
  for (const { name } of before) await client.query(`select setval('${name}', ${firstForeignId})`);
  const other = await cli<{ provider_id: number }>(['provider', 'create', '--title', marker, '--json'], env);
  writeFileSync(file, addMarker(readFileSync(file, 'utf8')));
  await cli(['import', file, '--provider', String(other.provider_id), '--allow', 'partners,categories'], env);
  for (const { name, at } of before) await client.query(`select setval('${name}', ${at})`);
  await client.end();
  return { apiKey, env, otherId: other.provider_id };
}

const shared = ['place', 'category', 'partner'];
const named = ['title', 'firstname', 'lastname', 'username', 'code', 'campaign_code', 'text_lead', 'reference'];

/** Export lines with the marker in the school's own names. */
function addMarker(lines: string) {
  const mark = (line: string) => {
    const fields = JSON.parse(line) as Record<string, unknown>;
    if (shared.includes(String(fields['kind']))) return line;
    for (const name of named) if (typeof fields[name] === 'string') fields[name] = `${marker} ${fields[name]}`;
    if (typeof fields['email'] === 'string') fields['email'] = `${marker}-${fields['email']}`;
    return JSON.stringify(fields);
  };
  return lines
    .split('\n')
    .filter((line) => line !== '' && !line.includes('"kind":"partner"'))
    .map(mark)
    .join('\n');
}

/** Hash of each of a school's tables. */
export async function hashTables(postgres: Postgres, database: string, providerId: number) {
  const client = await postgres.connect(database);
  const { rows: tables } = await client.query<{ name: string }>(
    `select c.table_name as name from information_schema.columns c join information_schema.tables t using (table_schema, table_name)
      where c.table_schema = 'public' and c.column_name = 'provider_id' and t.table_type = 'BASE TABLE'
        and c.table_name not in ('api_keys', 'provider_state') order by 1`,
  );
  const states: Record<string, string> = {};
  for (const { name } of tables) {
    const { rows } = await client.query<{ state: string }>(
      `select count(*) || ' ' || coalesce(md5(string_agg(t::text, '' order by t::text)), '') as state
        from ${name} t where provider_id = $1`,
      [providerId],
    );
    states[name] = rows[0]!.state;
  }
  await client.end();
  return states;
}
