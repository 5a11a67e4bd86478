import type { AddressInfo, Server } from 'node:net';
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { buildApp } from './app.ts';
import { readConfig, type Config } from './config.ts';
import { isMigrated, migrateDatabase } from './database/migrate.ts';
import { openLog, type Log } from './runtime/log.ts';
import { startAuditRetention } from './runtime/audit-retention.ts';
import { startClockCheck } from './runtime/clock-check.ts';
import { bootstrap, demoData, printWelcome } from './runtime/first-start.ts';
import { describeError, ListenError } from './runtime/describe-error.ts';
import { onStopSignal } from './runtime/signals.ts';
import { packageVersion } from './runtime/version.ts';
import { startMailWorker } from './runtime/mail.ts';
import { openStore, toSettings, waitForDatabase, type Store } from './runtime/store.ts';

// V8 would let what it holds grow several times over before it collects; so it holds less under load.
setFlagsFromString('--heap-growing-percent=50');

/** The process: config in, database up, listen, stop gracefully. */
async function start() {
  const stop = onStopSignal();
  const config = readConfig(process.env);
  const log = openLog(config);
  for (const warning of config.warnings) log.warn(warning);
  let isClosing = false;
  const opened = await openStore(config, (error) => {
    if (!isClosing) log.warn({ err: error.message }, 'a database connection broke');
  });
  const close = () => {
    // What the embedded database says to connections that are just ending is no news.
    isClosing = true;
    return opened.close();
  };
  const store = { ...opened, close };
  for (const note of store.notes) log.info(note);

  try {
    await serve(config, log, store, stop);
  } catch (error) {
    await store.close().catch(() => undefined);
    throw error;
  }
}

async function serve(config: Config, log: Log, store: Store, stop: ReturnType<typeof onStopSignal>) {
  const { database } = store;
  await waitForDatabase(database, config.DATABASE_CONNECT_TIMEOUT_MS, () =>
    log.warn('The database does not answer yet; waiting for it'),
  );
  if (config.MIGRATE_ON_START) {
    const { applied } = await migrateDatabase(store.connection);
    if (applied > 0) log.info(`Brought the database up to date (${applied} migrations)`);
  }
  const prepare = async () => {
    await bootstrap(config, database, log);
    return demoData(config, database, log);
  };
  const migrated = await isMigrated(database.pool);
  const demoKey = migrated ? await prepare() : null;

  const isShuttingDown = { now: false };
  const app = await buildApp({
    database,
    settings: toSettings(config),
    version: packageVersion(),
    limits: {
      bodyBytes: config.BODY_LIMIT,
      keptBytes: config.RESPONSE_CACHE_MB * 1_048_576,
      // A connection is left for what is no list, as long as no list has two: one whose relations come apart may.
      lists: { atOnce: config.POOL_SIZE - 1, waitMs: config.POOL_ACQUIRE_TIMEOUT_MS },
      headersMs: config.HEADERS_TIMEOUT_MS,
      requestMs: config.REQUEST_TIMEOUT_MS,
      keepAliveMs: config.KEEP_ALIVE_TIMEOUT_MS,
      wrongKeysPerMinute: config.INVALID_KEYS_PER_MINUTE,
      publicRequestsPerMinute: config.PUBLIC_REQUESTS_PER_MINUTE,
      rate: config.rate,
    },
    trustProxy: config.trustProxy,
    logger: log,
    isShuttingDown,
  });
  await app
    .listen({ host: config.HOST, port: config.PORT, listenTextResolver: (address) => `Listening at ${address}` })
    .catch((error: unknown) => {
      throw new ListenError(config, error);
    });

  // Not before: a server that cannot start sends nothing.
  let mail: ReturnType<typeof startMailWorker> | undefined;
  let stopClearing: ReturnType<typeof startAuditRetention> | undefined;
  let stopClockCheck: ReturnType<typeof startClockCheck> | undefined;
  const startWork = () => {
    mail = startMailWorker(config, database, log);
    stopClearing = startAuditRetention(database, log);
    stopClockCheck = startClockCheck(database, log);
  };
  if (migrated) {
    startWork();
  } else {
    log.warn('The database is not migrated: /ready says 503 until somebody runs the `migrate` command');
    void whenMigrated(database)
      .then(async () => prepare().then(startWork))
      .catch((error: unknown) => log.error(describeError(error)));
  }

  stop.gracefully(async (signal) => {
    log.info(`Stopping (${signal}): finishing the requests and mails in flight`);
    isShuttingDown.now = true;
    stopClearing?.();
    stopClockCheck?.();
    if (config.SHUTDOWN_DRAIN_MS > 0) await sleep(config.SHUTDOWN_DRAIN_MS);
    const end = performance.now() + config.SHUTDOWN_TIMEOUT_MS;
    await catchUp(app.server, config.SHUTDOWN_TIMEOUT_MS / 2);
    // A connection that was busy when the port closed is idle once it has its answer.
    const closing = setInterval(() => app.server.closeIdleConnections(), 50);
    const answered = Promise.race([
      app.close(),
      sleep(end - performance.now()).then(() => app.server.closeAllConnections()),
    ]).finally(() => clearInterval(closing));
    // A mail that is cut off would leave again; the time it may take is its own.
    await Promise.all([answered, mail?.stop()]);
    await Promise.race([store.close(), sleep(config.SHUTDOWN_TIMEOUT_MS)]);
    log.info('Stopped');
  });
  printWelcome(config, log, (app.server.address() as AddressInfo).port, demoKey);
}

/**
 * Takes in what has arrived already, at most that long: connections still waiting to be accepted when the port closes are
 * cut off, with the requests on them, and a busy process accepts few a turn.
 */
async function catchUp(server: Server, milliseconds: number) {
  let accepted = 0;
  const count = () => void (accepted += 1);
  server.on('connection', count);
  const until = performance.now() + milliseconds;
  // What the last turn accepted is read in the next one.
  for (let quiet = 0; quiet < 3 && performance.now() < until; quiet += 1) {
    const before = accepted;
    await nextTurn();
    if (accepted > before) quiet = 0;
  }
  server.off('connection', count);
}

/** Looks every few seconds; a database out of reach is no reason to stop looking. */
async function whenMigrated({ pool }: Store['database']) {
  while (!(await isMigrated(pool).catch(() => false))) await sleep(2_000, undefined, { ref: false });
}

start().catch((error: unknown) => {
  console.error(`The server could not start: ${describeError(error)}`);
  process.exit(1);
});
