import { Resolver } from 'node:dns/promises';
import type { AddressInfo } from 'node:net';
import { resolve } from 'node:path';
import { afterAll, inject, onTestFinished } from 'vitest';
import { Client, type ClientConfig } from 'pg';
import type { InjectOptions } from 'fastify';
import { pino } from 'pino';
import { buildApp, type AppOptions } from '../../src/app.ts';
import type { Ctx } from '../../src/database/context.ts';
import type { Settings } from '../../src/core/settings.ts';
import { readTenantTables } from '../../src/database/tenant-tables.ts';
import { openDatabase, type Database, type DatabaseOptions } from '../../src/database/client.ts';
import { queryBuilderOn } from '../../src/database/reader.ts';
import { createContext, createTitledProvider } from '../../src/domains/school/schools/service.ts';
import type { PluginConfig } from '../../src/interfaces/plugin/define-plugin.ts';
import { readConfig } from './config.ts';
import { collectFromPool, collectFromRequests } from './collect-statements.ts';
import { injectInto, remoteBase } from './remote-app.ts';

export const settings: Settings = {
  timezone: 'Europe/Oslo',
  defaultLanguage: 'en',
  publicUrl: 'http://localhost:3000',
  catalogUrl: 'https://catalog.example',
};

/** Also for a bundle, whose settings of plugins are other objects. */
export function toPluginConfig(env: NodeJS.ProcessEnv): PluginConfig {
  const { values } = readConfig(env);
  return { of: () => values as never };
}
export const config = toPluginConfig({ WEBHOOK_ALLOW: '127.0.0.0/8' });

/** The DNS of the tests: names of receivers lead to this machine, and others have no address. */
Object.assign(Resolver.prototype, {
  resolve4: async (host: string) => (host.endsWith('.example') ? ['127.0.0.1'] : []),
  resolve6: async () => [],
});

export const limits: AppOptions['limits'] = {
  bodyBytes: 1_048_576,
  requestMs: 10_000,
  keepAliveMs: 10_000,
  invalidKeysPerMinute: 1_000_000,
  publicRequestsPerMinute: 1_000_000,
  responseCacheBytes: 8_388_608,
  lists: { atOnce: 5, waitMs: 30_000 },
};

export type BuildApp = typeof buildApp;
/** The module that exports `buildApp`; a negative control replaces it by a bundle without a protection. */
const { buildApp: buildTestApp } = process.env['TEST_APP']
  ? ((await import(resolve(process.env['TEST_APP']))) as { buildApp: BuildApp })
  : { buildApp };

export const connectionTo = (database: string): ClientConfig => ({ ...inject('server'), database });

export function openTestDatabase(name: string, options: Partial<DatabaseOptions> = {}, open = openDatabase) {
  const database = open({
    connection: connectionTo(name),
    timezone: settings.timezone,
    poolSize: 4,
    acquireMs: 30_000,
    statementMs: 30_000,
    writeMs: 30_000,
    ...options,
  });
  collectFromPool(database.pool);
  return database;
}

/** Unexpected errors of a run, since a response names a request alone. */
const errorLog = pino(
  { level: 'error' },
  pino.destination({ dest: 'test/output/errors.ndjson', mkdir: true, sync: true }),
);

/** The application on a database, and a function that creates providers; closed after the test or file. */
export async function openTestApp(database: Database, options: Partial<AppOptions> = {}, build = buildTestApp) {
  const app = await build({ database, settings, logger: errorLog, config, version: 'test', limits, ...options });
  await app.ready();
  if (build === buildTestApp) collectFromRequests(app);
  return {
    app,
    database,
    createProvider: (title?: string) => createProvider(app, database, title),
    close: async () => {
      await app.close();
      await database.close();
    },
  };
}
export type TestApp = Awaited<ReturnType<typeof openTestApp>>;
type App = Awaited<ReturnType<typeof buildApp>>;

let sharedApp: Promise<TestApp> | undefined;
/** The app that the files of a worker share; never cleaned up, so each test creates its own providers. */
/** A database whose statements outside of transactions are sent by `query`. */
export function sendingBy(database: Database, query: (...args: [never]) => Promise<unknown>): Database {
  const pool = { query } as never;
  const unlocked = queryBuilderOn(pool);
  return { ...database, pool, db: unlocked, unlocked };
}

export const sharedTestApp = () => (sharedApp ??= openSharedApp());

async function openSharedApp() {
  const shared = await openTestApp(openTestDatabase(inject('shared')));
  if (remoteBase !== undefined) injectInto(remoteBase, shared.app);
  return shared;
}

let sharedAppPort: Promise<number> | undefined;
/** Port of the shared app, for tests that need a socket; its server does not keep the process alive. */
export const sharedPort = () => (sharedAppPort ??= sharedTestApp().then(remoteBase ? () => remotePort : listen));

const remotePort = remoteBase === undefined ? 0 : Number(new URL(remoteBase).port);

async function listen({ app }: TestApp) {
  await app.listen({ port: 0, host: '127.0.0.1' });
  app.server.unref();
  return (app.server.address() as AddressInfo).port;
}

/** An empty, migrated database, dropped after the test, or after the file with `afterAll`. */
export async function ownDatabase(
  whenDone: (work: () => Promise<void>) => void = onTestFinished,
  template = inject('template'),
) {
  const name = `booking_own_${process.pid}_${Math.random().toString(36).slice(2, 10)}`;
  await asAdmin(`create database ${name} template ${template} strategy file_copy`);
  whenDone(async () => asAdmin(`drop database if exists ${name} with (force)`));
  return name;
}

type KeptApp = TestApp & { name: string; empty: () => Promise<unknown> };
const idleApps: KeptApp[] = [];

/**
 * An app on a database without providers. The next test gets both again, since new ones take half a second: a test that
 * changes the schema changes it back.
 */
export async function emptyTestApp() {
  const testApp = idleApps.pop() ?? (await openKeptApp());
  onTestFinished(async () => {
    await testApp.empty().catch(async (error: unknown) => {
      await testApp.close();
      throw error;
    });
    idleApps.push(testApp);
  });
  // Deliveries are counted anew.
  const { database } = testApp;
  return { ...testApp, database: { ...database, counters: { ...database.counters } } };
}

async function openKeptApp(): Promise<KeptApp> {
  const name = `${inject('template')}_kept_${process.pid}_${Math.random().toString(36).slice(2, 10)}`;
  await asAdmin(`create database ${name} template ${inject('template')} strategy file_copy`);
  const testApp = await openTestApp(openTestDatabase(name));
  const { pool } = testApp.database;
  const tables = (await readTenantTables(pool)).map((table) => table.name);
  // Without their lock, no write is refused.
  const inOrder = ['provider_state', ...tables, 'events', 'providers', 'admin_users'];
  const text = inOrder.map((table) => `delete from ${table}`).join(';');
  return { ...testApp, name, empty: () => pool.query(text) };
}

/** An app on a separate database, for tests of ETags: other files change shared data, and with it every ETag. */
export async function openTestAppForFile() {
  const testApp = await openTestApp(openTestDatabase(await ownDatabase(afterAll)));
  afterAll(testApp.close);
  return testApp;
}

export async function asAdmin(statement: string) {
  const client = new Client(connectionTo('postgres'));
  await client.connect();
  await client.query(statement).finally(() => client.end());
}

export type TestResponse = {
  status: number;
  headers: Record<string, string | string[] | number | undefined>;
  text: string;
  /** Parses the body; the caller chooses the type. */
  json<T = any>(): T;
};

export async function send(app: App, options: InjectOptions): Promise<TestResponse> {
  const response = await app.inject(options);
  return {
    status: response.statusCode,
    headers: response.headers,
    text: response.body,
    json: <T>() => JSON.parse(response.body) as T,
  };
}

let created = 0;

/** A new provider with key, request functions and context. */
export async function createProvider(app: App, database: Database, title = `School ${process.pid}-${(created += 1)}`) {
  const { providerId, apiKey } = await createTitledProvider(database, title, null);
  const key = { 'x-api-key': apiKey };
  const request =
    (method: InjectOptions['method']) =>
    (url: string, payload?: unknown, headers: Record<string, string> = {}) =>
      send(app, {
        method,
        url,
        headers: { ...key, ...headers },
        ...(payload === undefined ? {} : { payload: payload as object }),
      });
  const get = (url: string, headers: Record<string, string> = {}) => request('GET')(url, undefined, headers);
  const post = request('POST');
  return {
    id: providerId,
    apiKey,
    title,
    get,
    post,
    put: request('PUT'),
    request,
    ctx: (): Promise<Ctx> => createContext(database, settings, providerId),
    /** Creates a course by the API; returns its id. */
    course: async (fields: Record<string, unknown> = {}) => {
      const response = await post('/v2/courses', { title: `Course ${(created += 1)}`, ...fields });
      if (response.status !== 201) throw new Error(`no course: ${response.text}`);
      return response.json<{ course_id: number }>().course_id;
    },
  };
}
export type Provider = Awaited<ReturnType<typeof createProvider>>;
