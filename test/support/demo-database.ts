import { Client } from 'pg';
import { inject, onTestFinished } from 'vitest';
import { loadDemo } from '../../src/plugins/transfer/demo/load.ts';
import { newApiKey } from '../../src/core/api-key.ts';
import { databaseUrl, startServer } from './processes.ts';
import { connectionTo, openTestDatabase, ownDatabase, settings } from './test-app.ts';

/** A database with the demo data and its key: a copy of one that the first caller of the run loads. */
export async function demoDatabase(whenDone: (work: () => Promise<void>) => void = onTestFinished) {
  const template = `${inject('template')}_demo`;
  const client = new Client(connectionTo('postgres'));
  await client.connect();
  try {
    // Other workers wait for the first.
    await client.query(`select pg_advisory_lock(hashtext('${template}'))`);
    const found = `select shobj_description(oid, 'pg_database') as key from pg_database where datname = '${template}'`;
    const { rows } = await client.query<{ key: string }>(found);
    const key = rows[0]?.key ?? (await loadTemplate(client, template));
    return { name: await ownDatabase(whenDone, template), key };
  } finally {
    await client.end();
  }
}

async function loadTemplate(client: Client, template: string) {
  await client.query(`create database ${template} template ${inject('template')} strategy file_copy`);
  const key = newApiKey();
  const loading = openTestDatabase(template);
  await loadDemo(loading, settings, () => key).finally(() => loading.close());
  await client.query(`comment on database ${template} is '${key}'`);
  return key;
}

/** Starts a server on a demo database, stopped after the test. */
export async function startDemoServer({ name, key }: { name: string; key: string }, env: Record<string, string> = {}) {
  const server = await startServer({ DATABASE_URL: databaseUrl(name), ...env });
  onTestFinished(async () => {
    server.child.kill('SIGTERM');
    await server.ended;
  });
  const { PATH = '', HOME = '/' } = process.env;
  return { ...server, env: { PATH, HOME, BASE_URL: server.url, KEY: key } };
}
