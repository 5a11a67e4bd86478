import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { dirname, join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { setTimeout as pause } from 'node:timers/promises';
import { Client } from 'pg';
import { expect, onTestFinished, test } from 'vitest';
import { freePort } from '../../support/ports.ts';
import { databaseUrl, startServer, temporaryFolder } from '../../support/processes.ts';
import { succeeds } from '../../support/programs.ts';
import { connectionTo, createProvider, openTestApp, openTestDatabase, ownDatabase } from '../../support/test-app.ts';

const missing = succeeds('command -v promtool') ? '' : 'promtool is not installed';
const promtool = (args: string[], input = '') => spawnSync('promtool', args, { input, encoding: 'utf8' });

test('what is off is not loaded', () => {
  const seen = new Set<string>();
  const packages = new Set<string>();
  const visit = (file: string) => {
    if (seen.has(file)) return;
    seen.add(file);
    for (const [, to] of readFileSync(file, 'utf8').matchAll(/^(?:import|export)\b[^;]*?["']([^"']+)["'];?$/gm)) {
      if (to!.startsWith('.')) visit(join(dirname(file), to!));
      else packages.add(to!);
    }
  };
  visit('dist/main.js');
  expect(packages).toContain('fastify');
  expect([...packages].filter((name) => /prom-client|otel|opentelemetry/.test(name))).toEqual([]);
});

/** A collector of traces. */
async function startCollector() {
  const bodies: Buffer[] = [];
  const server = createServer((request, response) => {
    void buffer(request).then((body) => {
      bodies.push(Buffer.concat([Buffer.from(`${request.url}\n`), body]));
      response.setHeader('content-type', 'application/x-protobuf').end();
    });
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  onTestFinished(() => void server.close());
  return { bodies, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
}

test('metrics on a port of their own, and a trace for each request without values of it', async () => {
  const name = await ownDatabase();
  const database = openTestDatabase(name);
  const { app, close } = await openTestApp(database);
  onTestFinished(close);
  const me = await createProvider(app, database);
  const collector = await startCollector();
  const adminPort = String(await freePort());
  const server = await startServer({
    ...{ DATABASE_URL: databaseUrl(name), DATA_DIR: temporaryFolder(), ADMIN_PORT: adminPort, LOG_FORMAT: 'json' },
    ...{ OTEL_EXPORTER_OTLP_ENDPOINT: collector.url, OTEL_SERVICE_NAME: 'the-booking' },
  });
  const traceId = '4bf92f3577b34da6a3ce929d0e0e4736';
  const headers = { 'x-api-key': me.apiKey, traceparent: `00-${traceId}-00f067aa0ba902b7-01` };
  await fetch(`${server.url}/v2/search-users?email=secret@x.example`, { headers });
  await database.pool.query('alter table courses rename to away');
  await fetch(`${server.url}/v2/courses?title=secret`, { headers });
  await database.pool.query('alter table away rename to courses');
  await fetch(`${server.url}/my/sign-in/secret-token`, { headers });
  await delayCourses(name, () => fetch(`${server.url}/v2/courses?title=secret-two`, { headers }));

  const text = await (await fetch(`http://127.0.0.1:${adminPort}/metrics`)).text();
  expect(text).toContain('booking_http_requests_total{method="GET",route="/v2/courses",status="5xx"} 1');
  expect(text).toContain('booking_http_unavailable_total{reason="not_migrated_or_granted"} 1');
  // On a busy machine others are slow too.
  expect(text).toMatch(/^booking_database_slow_statements_total [1-9]/m);
  expect((await fetch(`${server.url}/metrics`)).status).toBe(404);
  if (missing === '') {
    // prom-client's gauges `nodejs_active_*_total` have the ending of a counter.
    const own = text.replaceAll(/^.*\bnodejs_active_\w+_total\b.*\n/gm, '');
    const { status, stdout, stderr } = promtool(['check', 'metrics'], own);
    expect([status, stdout, stderr]).toEqual([0, '', '']);
  }

  server.child.kill('SIGTERM');
  expect(await server.ended, server.output()).toBe(0);
  const sent = Buffer.concat(collector.bodies);
  expect(sent.subarray(0, 11).toString()).toBe('/v1/traces\n');
  expect(sent.includes(Buffer.from(traceId, 'hex'))).toBe(true);
  for (const part of ['the-booking', '/v2/search-users', '/my/sign-in/:token']) expect(sent.includes(part)).toBe(true);
  for (const part of ['secret', 'Failed query', me.apiKey]) expect(sent.includes(part), part).toBe(false);
  const lines = server
    .output()
    .split('\n')
    .filter((line) => line.includes(traceId));
  expect(lines.map((line) => (JSON.parse(line) as { status: number }).status)).toEqual([503, 410]);
  expect(server.output()).not.toContain('secret');
  const slow = server
    .output()
    .split('\n')
    .filter((line) => line.includes('a statement took more than half a second'))
    .map((line) => JSON.parse(line) as object);
  // The verb, the table and the name of a prepared list.
  const list = {
    level: 40,
    statement: expect.stringMatching(/^select courses \(r_/) as string,
    ms: expect.any(Number) as number,
  };
  expect(slow).toContainEqual(expect.objectContaining(list));
});

/** Runs work while courses cannot be read for more than half a second. */
async function delayCourses(name: string, work: () => Promise<unknown>) {
  const client = new Client(connectionTo(name));
  await client.connect();
  await client.query('begin; lock table courses in access exclusive mode');
  const done = work();
  await pause(700);
  await client.end();
  await done;
}

test('an admin port in use ends the start and is named', async () => {
  const taken = createServer();
  await once(taken.listen(0, '127.0.0.1'), 'listening');
  onTestFinished(() => void taken.close());
  const ADMIN_PORT = String((taken.address() as AddressInfo).port);
  const server = await startServer({
    ...{ DATABASE_URL: databaseUrl(await ownDatabase()), DATA_DIR: temporaryFolder(), ADMIN_PORT },
  });
  expect(await server.ended).toBe(1);
  expect(server.errors()).toContain(`port ${ADMIN_PORT} is in use; set ADMIN_PORT to another one`);
});

test.skipIf(missing)(`promtool accepts the alert rules${missing && `: ${missing}`}`, () => {
  const rules = readFileSync('docs/deploy/alerts.yml', 'utf8').match(/- alert: /g)!;
  const { status, stdout, stderr } = promtool(['check', 'rules', 'docs/deploy/alerts.yml']);
  expect([status, stderr]).toEqual([0, '']);
  expect(stdout).toContain(`${rules.length} rules found`);
});
