/** Prints the OpenAPI document. Needs no database. */
import { buildApp } from '../../src/app.ts';
import type { Database } from '../../src/database/client.ts';

const app = await buildApp({
  database: { db: {} } as Database,
  settings: {
    timezone: 'Europe/Oslo',
    defaultLanguage: 'en',
    publicUrl: 'http://localhost:3000',
    catalogUrl: 'https://catalog.example',
  },
  version: '0.0.0',
  limits: {
    bodyBytes: 1_048_576,
    headersMs: 10_000,
    requestMs: 10_000,
    keepAliveMs: 10_000,
    invalidKeysPerMinute: 100,
  },
});
await app.ready();
process.stdout.write(`${JSON.stringify(app.swagger(), null, 2)}\n`);
await app.close();
