// A server for bundles without the provider's lock, its queue and the check of voucher balances, for negative controls
// of race tests.
import { buildApp } from '../../src/app.ts';
import { openDatabase } from '../../src/database/client.ts';

const [connectionString, port] = process.argv.slice(2);
const database = openDatabase({
  connection: { connectionString },
  timezone: 'Europe/Oslo',
  poolSize: 20,
  acquireMs: 20_000,
  statementMs: 10_000,
  writeMs: 20_000,
});
const app = await buildApp({
  database,
  settings: { timezone: 'Europe/Oslo', defaultLanguage: 'en', publicUrl: 'http://localhost', catalogUrl: null },
  version: 'test',
  trustProxy: ['127.0.0.1'],
  limits: { bodyBytes: 1e6, requestMs: 20_000, keepAliveMs: 300_000, invalidKeysPerMinute: 100 },
});
await app.listen({ host: '127.0.0.1', port: Number(port) });
console.log(`The unlocked server is running at http://localhost:${port}`);
