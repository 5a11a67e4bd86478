import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { buildApp } from './app.ts';
import { readConfig, type Config } from './config.ts';
import { migrateDatabase } from './database/migrate.ts';
import { openLog, type Log } from './process/log.ts';
import { bootstrap, demoData, welcome } from './process/first-start.ts';
import { packageVersion } from './process/version.ts';
import { openStore, settingsOf, whenReachable, type Store } from './process/store.ts';

/** The process: config in, database up, listen, stop gracefully. */
async function start() {
  const config = readConfig(process.env);
  const log = openLog(config);
  const store = await openStore(config, (error) => log.warn({ err: error.message }, 'a database connection broke'));
  for (const note of store.notes) log.info(note);

  try {
    await serve(config, log, store);
  } catch (error) {
    await store.close().catch(() => undefined);
    throw error;
  }
}

async function serve(config: Config, log: Log, store: Store) {
  const { database } = store;
  await whenReachable(database, () => log.warn('The database does not answer yet; waiting up to 30 s for it'));
  if (config.MIGRATE_ON_START) {
    const { applied } = await migrateDatabase(store.connection);
    if (applied > 0) log.info(`Brought the database up to date (${applied} migrations)`);
  }
  await bootstrap(config, database, log);
  const demoKey = await demoData(config, database, log);

  const draining = { now: false };
  const app = await buildApp({
    database,
    settings: settingsOf(config),
    version: packageVersion(),
    limits: {
      bodyBytes: config.BODY_LIMIT,
      headersMs: config.HEADERS_TIMEOUT_MS,
      requestMs: config.REQUEST_TIMEOUT_MS,
      keepAliveMs: config.KEEP_ALIVE_MS,
      wrongKeysPerMinute: config.WRONG_KEYS_PER_MINUTE,
    },
    trustProxy: config.trustProxy,
    logger: log,
    draining,
  });
  await app.listen({
    host: config.HOST,
    port: config.PORT,
    listenTextResolver: (address) => `Listening at ${address}`,
  });

  stopOnSignal(async (signal) => {
    log.info(`Stopping (${signal}): finishing the requests in flight`);
    draining.now = true;
    if (config.DRAIN_MS > 0) await sleep(config.DRAIN_MS);
    await Promise.race([app.close(), sleep(config.STOP_MS).then(() => app.server.closeAllConnections())]);
    await Promise.race([store.close(), sleep(config.STOP_MS)]);
    log.info('Stopped');
  });
  welcome(config, (app.server.address() as AddressInfo).port, demoKey);
}

/**
 * The first signal stops gracefully; another one ends the process at once, unless it comes so soon that it is the
 * same key press, which npm passes on a second time.
 */
function stopOnSignal(stop: (signal: string) => Promise<void>) {
  let since: number | undefined;
  const onSignal = (signal: string) => {
    if (since !== undefined) {
      if (performance.now() - since > 500) process.exit(1);
      return;
    }
    since = performance.now();
    stop(signal).then(
      () => process.exit(0),
      () => process.exit(1),
    );
  };
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, onSignal);
}

start().catch((error: unknown) => {
  const { code, message, port } = error as NodeJS.ErrnoException & { port?: number };
  const reason = code === 'EADDRINUSE' ? `port ${port ?? ''} is in use; set PORT to another one` : message;
  console.error(`The server could not start: ${reason}`);
  process.exit(1);
});
