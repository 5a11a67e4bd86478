// The server with some guards off, for negative controls: `GUARDS` is JSON with the guards that differ. No configuration
// of the service reaches this: it exists in the tests alone.
import { buildApp } from '../../../dist/app.js';
import { allGuards } from '../../../dist/core/context.js';
import { openDatabase } from '../../../dist/database/client.js';

const { DATABASE_URL, HOST, PORT, GUARDS } = process.env;
const timezone = 'Europe/Oslo';
const patience = { acquireMs: 20_000, statementMs: 10_000, writeMs: 20_000 };
const database = openDatabase({ connection: { connectionString: DATABASE_URL }, timezone, poolSize: 4, ...patience });
const app = await buildApp({
  database,
  settings: { timezone, defaultLanguage: 'en', publicUrl: `http://${HOST}:${PORT}`, catalogUrl: null },
  version: 'test',
  guards: { ...allGuards, ...JSON.parse(GUARDS) },
  limits: { bodyBytes: 1e6, headersMs: 20_000, requestMs: 20_000, keepAliveMs: 20_000, wrongKeysPerMinute: 1e6 },
});
await app.listen({ host: HOST, port: Number(PORT) });
