// The server without its start-up code, for negative controls that are bundled without a protection.
import { buildApp } from '../../../src/app.ts';
import { openDatabase } from '../../../src/database/client.ts';

const { DATABASE_URL, HOST, PORT } = process.env;
const timezone = 'Europe/Oslo';
const timeoutMs = { acquireMs: 20_000, statementMs: 10_000, writeMs: 20_000 };
const database = openDatabase({ connection: { connectionString: DATABASE_URL }, timezone, poolSize: 4, ...timeoutMs });
const app = await buildApp({
  database,
  settings: { timezone, defaultLanguage: 'en', publicUrl: `http://${HOST}:${PORT}`, catalogUrl: null },
  version: 'test',
  limits: { bodyBytes: 1e6, requestMs: 20_000, keepAliveMs: 20_000, invalidKeysPerMinute: 1e6 },
});
await app.listen({ host: HOST, port: Number(PORT) });
