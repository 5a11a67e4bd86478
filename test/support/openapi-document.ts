/** Prints the OpenAPI document; with --served as the service sends it, with examples. Needs no database. */
import { buildApp } from '../../src/app.ts';
import type { Database } from '../../src/database/client.ts';
import { createCounters } from '../../src/database/counters.ts';

const app = await buildApp({
  database: { db: {}, counters: createCounters() } as Database,
  settings: {
    timezone: 'Europe/Oslo',
    defaultLanguage: 'en',
    publicUrl: 'http://localhost:3000',
    catalogUrl: 'https://catalog.example',
  },
  version: '0.0.0',
  limits: {
    bodyBytes: 1_048_576,
    requestMs: 10_000,
    keepAliveMs: 10_000,
    invalidKeysPerMinute: 100,
  },
});
await app.ready();
const isServed = process.argv.includes('--served');
const document = isServed ? (await app.inject('/openapi.json')).json<object>() : app.swagger();
process.stdout.write(`${JSON.stringify(document, null, 2)}\n`);
await app.close();
