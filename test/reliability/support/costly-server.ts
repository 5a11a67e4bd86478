// Server with expensive public endpoints, for negative controls: parses queries and forms in quadratic time and
// serialises the OpenAPI document on every request.
import { buildApp } from '../../../src/app.ts';
import { openDatabase } from '../../../src/database/client.ts';

function readInQuadraticTime(text: string) {
  let fields: Record<string, unknown> = {};
  for (const pair of text.split('&')) {
    const name = pair.split('=')[0]!.replace(/\[\d*\]$/, '');
    fields = { ...fields, [pair]: true, [name]: [...((fields[name] as string[] | undefined) ?? []), pair] };
  }
  return fields;
}

Object.assign(globalThis, { readInQuadraticTime });

const { DATABASE_URL, HOST, PORT } = process.env;
const timezone = 'Europe/Oslo';
const limits = { acquireMs: 20_000, statementMs: 10_000, writeMs: 20_000 };
const database = openDatabase({ connection: { connectionString: DATABASE_URL }, timezone, poolSize: 4, ...limits });
const app = await buildApp({
  database,
  settings: { timezone, defaultLanguage: 'en', publicUrl: `http://${HOST}:${PORT}`, catalogUrl: null },
  version: 'test',
  limits: {
    ...{ bodyBytes: 1_048_576, requestMs: 20_000, keepAliveMs: 20_000 },
    ...{ invalidKeysPerMinute: 1e6, publicRequestsPerMinute: 1e6 },
  },
});
app.server.prependListener('request', ({ url = '' }) => {
  readInQuadraticTime(url.slice(url.indexOf('?') + 1));
  if (url.startsWith('/openapi') || url.startsWith('/docs')) {
    for (let n = 0; n < 4; n += 1) JSON.stringify(JSON.parse(JSON.stringify(app.swagger())));
  }
});
await app.listen({ host: HOST, port: Number(PORT) });
