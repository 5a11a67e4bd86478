import type { AddressInfo, Server } from 'node:net';
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { buildApp, type AppOptions } from './app.ts';
import { readConfig, toSettings, type Config } from './core/config.ts';
import { logToErrors, openLog, type Log } from './core/log.ts';
import { packageVersion } from './core/project.ts';
import { startClockCheck } from './database/clock.ts';
import { describeError, ListenError } from './database/describe-error.ts';
import { keepUidHost } from './database/service-state.ts';
import { coreTasks, housekeepingJob } from './database/housekeeping.ts';
import { isMigrated, migrateDatabase } from './database/migrate.ts';
import { assertKnownHistory, findMigrationDifferences } from './database/migration-history.ts';
import { startJobs, type Job } from './database/periodic.ts';
import { assertReleaseIsSupported } from './database/releases.ts';
import { logSlowStatements, openStartDatabase, openStore, waitForDatabase, type Store } from './database/store.ts';
import { createProviderLimits, type ProviderLimits } from './http/auth/rate-limit.ts';
import { assertPortIsFree } from './http/port.ts';
import type { FirstData, ServerContext, ServerPart } from './interfaces/plugin/define-plugin.ts';
import { printWelcome } from './interfaces/plugin/welcome.ts';
import { domainJobs } from './jobs.ts';
import { plugins } from './plugins.ts';
import { createFirstProvider } from './domains/school/schools/service.ts';

// By default V8 lets the heap grow several times over before a full collection.
setFlagsFromString('--heap-growing-percent=50');

type StopSignal = ReturnType<typeof onStopSignal>;

/** Reads the configuration, opens the database and serves until a stop signal. */
async function start() {
  const stopSignal = onStopSignal();
  const config = readConfig(process.env, plugins);
  const log = openLog(config);
  for (const warning of config.warnings) log.warn(warning);
  await assertPortIsFree(config);
  let isClosing = false;
  const onBrokenConnection = (error: Error) => {
    if (!isClosing) log.warn({ err: error.message }, 'a database connection broke');
  };
  const opened = await openStore(config, onBrokenConnection);
  const close = () => {
    // Connections report errors while the embedded database stops.
    isClosing = true;
    return opened.close();
  };
  const store = { ...opened, close };
  for (const note of store.notes) log.info(note);

  try {
    await serve(config, log, store, stopSignal);
  } catch (error) {
    await store.close().catch(() => undefined);
    throw error;
  }
}

async function serve(config: Config, log: Log, store: Store, stopSignal: StopSignal) {
  const { database, connection } = store;
  const { migrated, firstData } = await prepareDatabase(config, log, store);

  const isShuttingDown = { now: false };
  logSlowStatements(database, log);
  const context: ServerContext = { config, database, connection, log, env: process.env, plugins };
  const parts = await Promise.all(plugins.flatMap(({ server }) => server?.(context) ?? []));
  const providerLimits = createProviderLimits(config.rate);
  const app = await buildApp({ ...appOptions(context), isShuttingDown, providerLimits, parts });
  await app
    .listen({ host: config.HOST, port: config.PORT, listenTextResolver: (address) => `Listening at ${address}` })
    .catch((error: unknown) => {
      throw new ListenError(config, error);
    });
  for (const part of parts) await part.listen?.();

  // Started after listening, so that a server that fails to start sends no mails.
  const workers = createWorkers(context, parts, providerLimits);
  if (migrated) {
    workers.start();
  } else {
    log.warn('The database is not migrated: /ready responds 503 until the `migrate` command has run');
    void waitUntilMigrated(database)
      .then(async () => loadFirstData(config, database, log).then(workers.start))
      .catch((error: unknown) => log.error(describeError(error)));
  }

  stopSignal.gracefully(async (signal) => {
    log.info(`Stopping (${signal}): finishing the requests and mails in flight`);
    isShuttingDown.now = true;
    workers.stopJobs();
    await shutDown(app, config, workers.stopWork);
    await Promise.all(parts.map(async (part) => part.close?.()));
    await Promise.race([store.close(), sleep(config.SHUTDOWN_TIMEOUT_MS)]);
    log.info('Stopped');
  });
  printWelcome(config, log, (app.server.address() as AddressInfo).port, { plugins, firstData });
}

/** Prepares the database with longer time limits than those of requests, for machines that start slowly. */
async function prepareDatabase(config: Config, log: Log, store: Store) {
  const database = openStartDatabase(config, store);
  try {
    await waitForDatabase(database, { onWait: () => log.warn('The database does not respond yet; waiting for it') });
    await assertReleaseIsSupported(database.pool);
    await assertKnownHistory(database.pool);
    if (config.MIGRATE_ON_START) {
      const { applied } = await migrateDatabase(store.connection);
      if (applied > 0) log.info(`Brought the database up to date (${applied} migrations)`);
    }
    for (const difference of await findMigrationDifferences(database.pool)) log.warn(`${difference}: see \`doctor\``);
    const migrated = await isMigrated(database.pool);
    return { migrated, firstData: migrated ? await loadFirstData(config, database, log) : [] };
  } finally {
    await database.close();
  }
}

async function loadFirstData(config: Config, database: Store['database'], log: Log) {
  await keepUidHost(database.pool, config.PUBLIC_URL);
  await createFirstProvider(config, database, log);
  const loaded: FirstData[] = [];
  for (const plugin of plugins) {
    const data = await plugin.loadFirstData?.({ config, database, log });
    if (data) loaded.push(data);
  }
  return loaded;
}

const appOptions = ({ config, database, log }: ServerContext): AppOptions => ({
  database,
  settings: toSettings(config),
  config,
  version: packageVersion(),
  limits: {
    bodyBytes: config.BODY_LIMIT,
    responseCacheBytes: config.RESPONSE_CACHE_MB * 1_048_576,
    // Leaves one connection for other requests. A list may briefly use two while its relations load.
    lists: { atOnce: config.POOL_SIZE - 1, waitMs: config.acquireMs },
    requestMs: config.REQUEST_TIMEOUT_MS,
    keepAliveMs: config.KEEP_ALIVE_TIMEOUT_MS,
    invalidKeysPerMinute: config.INVALID_KEYS_PER_MINUTE,
    publicRequestsPerMinute: config.PUBLIC_REQUESTS_PER_MINUTE,
    rate: config.rate,
    publishablePerAddress: config.PUBLISHABLE_RATE_PER_ADDRESS,
  },
  trustProxy: config.trustProxy,
  requireHttps: config.REQUIRE_HTTPS,
  logger: log,
  requestLog: config.LOG_REQUESTS,
});

/** The maximum age of a limit in a server, as the command `provider limit` documents it. */
const limitsMs = 10_000;

/** The background work of a server, started once the database is migrated. */
function createWorkers({ config, database, log }: ServerContext, parts: ServerPart[], limits: ProviderLimits) {
  let stops: (() => void)[] = [];
  let works: { stop(): Promise<void> }[] = [];
  return {
    start() {
      works = parts.flatMap((part) => part.work?.() ?? []);
      const load = () => limits.load(database);
      const tasks = [...coreTasks, ...plugins.flatMap(({ housekeeping = [] }) => housekeeping)];
      const jobs: Job[] = [
        { name: 'Reading the limits of providers', intervalMs: limitsMs, run: load },
        housekeepingJob({ tasks, config, database, log }),
        ...domainJobs.map((create) => create(database, log)),
        ...parts.flatMap(({ periodic = [] }) => periodic),
      ];
      stops = [startJobs(jobs, log), startClockCheck(database, log)];
    },
    stopJobs() {
      for (const stop of stops) stop();
    },
    stopWork: () => Promise.all(works.map((work) => work.stop())),
  };
}

/** The first SIGINT or SIGTERM stops the process gracefully, a second one immediately. */
function onStopSignal() {
  let shutDown: (signal: string) => Promise<void> = () => Promise.resolve();
  let stoppedAt: number | undefined;

  const onSignal = (signal: string) => {
    if (stoppedAt !== undefined) {
      // npm forwards the signal of one key press a second time.
      if (performance.now() - stoppedAt > 500) process.exit(1);
      return;
    }
    stoppedAt = performance.now();
    shutDown(signal).then(
      () => process.exit(0),
      () => process.exit(1),
    );
  };
  for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, onSignal);
  // Sent by a closing terminal or a log rotation.
  process.on('SIGHUP', () => undefined);
  return { gracefully: (handler: (signal: string) => Promise<void>) => void (shutDown = handler) };
}

type ServerApp = { server: Awaited<ReturnType<typeof buildApp>>['server']; close(): PromiseLike<unknown> };

/** Drains, then closes the port and waits at most SHUTDOWN_TIMEOUT_MS for requests in flight. */
async function shutDown(app: ServerApp, config: Config, stopSending: () => Promise<unknown>) {
  if (config.SHUTDOWN_DRAIN_MS > 0) await sleep(config.SHUTDOWN_DRAIN_MS);
  const deadline = performance.now() + config.SHUTDOWN_TIMEOUT_MS;
  await acceptPending(app.server, config.SHUTDOWN_TIMEOUT_MS / 2);
  // A connection that was busy when the port closed becomes idle after its response.
  const closeIdle = setInterval(() => app.server.closeIdleConnections(), 50);
  const responded = Promise.race([
    app.close(),
    sleep(deadline - performance.now()).then(() => app.server.closeAllConnections()),
  ]).finally(() => clearInterval(closeIdle));
  // Not limited by the deadline: an interrupted mail or message would be sent again.
  await Promise.all([responded, stopSending()]);
}

/** Accepts the backlog for at most `milliseconds`; closing the port would reset connections that still wait. */
async function acceptPending(server: Server, milliseconds: number) {
  let accepted = 0;
  const count = () => void (accepted += 1);
  server.on('connection', count);
  const deadline = performance.now() + milliseconds;
  // A request is read one turn after its connection was accepted.
  for (let quietTurns = 0; quietTurns < 3 && performance.now() < deadline; quietTurns += 1) {
    const before = accepted;
    await nextTurn();
    if (accepted > before) quietTurns = 0;
  }
  server.off('connection', count);
}

/** Polls every two seconds; an unreachable database counts as not migrated. */
async function waitUntilMigrated({ pool }: Store['database']) {
  while (!(await isMigrated(pool).catch(() => false))) await sleep(2_000, undefined, { ref: false });
}

start().catch((error: unknown) => {
  // As it is set, since the configuration may be what is wrong.
  const isJson = process.env['LOG_FORMAT'] === 'json';
  const text = `The server could not start: ${describeError(error, process.stderr.isTTY && !isJson)}`;
  if (isJson) logToErrors().fatal(text);
  else console.error(text);
  process.exit(1);
});
