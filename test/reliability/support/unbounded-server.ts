// The server without a response budget, for negative controls: started with `--import tsx`.
import { responseBudget, statementBound } from '../../../src/lists/response-budget.ts';

Object.assign(responseBudget, { embedded: 10_000_000, bytes: 1_000_000_000 });
Object.assign(statementBound, { rows: 10_000_000, bytes: 1_000_000_000 });
const { buildApp } = await import('../../../src/app.ts');
const { openDatabase } = await import('../../../src/database/client.ts');

const { DATABASE_URL, HOST, PORT } = process.env;
const timezone = 'Europe/Oslo';
const limits = { acquireMs: 20_000, statementMs: 30_000, writeMs: 20_000 };
const database = openDatabase({
  connection: { connectionString: DATABASE_URL! },
  timezone,
  poolSize: 4,
  ...limits,
});
const app = await buildApp({
  database,
  settings: { timezone, defaultLanguage: 'en', publicUrl: `http://${HOST}:${PORT}`, catalogUrl: null },
  version: 'test',
  limits: { bodyBytes: 1e6, requestMs: 60_000, keepAliveMs: 20_000, invalidKeysPerMinute: 1e6 },
});
await app.listen({ host: HOST!, port: Number(PORT) });
