// The server with one of its protections off, for negative controls.
import { Pool } from 'pg';
import { buildApp } from '../../../src/app.ts';
import { openDatabase } from '../../../src/database/client.ts';

/**
 * `withoutErrorListeners: true` removes error listeners; `timeoutMs` replaces every timeout.
 */
const { withoutErrorListeners = false, timeoutMs } = JSON.parse(process.argv[2] ?? '{}');
if (withoutErrorListeners) {
  const { on } = Pool.prototype;
  Pool.prototype.on = function onAllButErrors(name, listener) {
    return name === 'error' || name === 'connect' ? this : on.call(this, name, listener);
  };
}
const database = openDatabase({
  connection: { connectionString: process.env.DATABASE_URL },
  timezone: 'Europe/Oslo',
  poolSize: 4,
  acquireMs: timeoutMs ?? 1_500,
  statementMs: timeoutMs ?? 5_000,
  writeMs: timeoutMs ?? 2_500,
});
const app = await buildApp({
  database,
  settings: { timezone: 'Europe/Oslo', defaultLanguage: 'en', publicUrl: 'http://localhost', catalogUrl: null },
  version: 'test',
  limits: { bodyBytes: 1e6, requestMs: 10_000, keepAliveMs: 10_000, invalidKeysPerMinute: 100 },
});
await app.listen({ host: '127.0.0.1', port: Number(process.env.PORT) });
