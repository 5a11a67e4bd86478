import { isProduction, type Config } from '../../../core/config.ts';
import * as checks from '../../../interfaces/plugin/checks.ts';

const isInProduction = (config: Config) => isProduction(config) || !config.isEmbedded;

const embeddedCondition: checks.Condition = {
  isHeld: (config) => !(isProduction(config) && config.isEmbedded),
  otherwise: 'The embedded database is for one machine: replicas and failover need DATABASE_URL',
};

const conditions: checks.Condition[] = [
  {
    isHeld: (config) => !isInProduction(config) || !checks.isLocal(new URL(config.PUBLIC_URL).hostname),
    otherwise: 'Links in mails and responses lead to this machine: set PUBLIC_URL',
  },
  {
    isHeld: ({ PUBLIC_URL }) => PUBLIC_URL.startsWith('https:') || checks.isLocal(new URL(PUBLIC_URL).hostname),
    otherwise: 'Keys and sessions travel unencrypted: PUBLIC_URL is http',
  },
  {
    isHeld: ({ PUBLIC_URL, TRUST_PROXY }) => !PUBLIC_URL.startsWith('https:') || Boolean(TRUST_PROXY),
    otherwise: "Limits by address count all clients as one: set TRUST_PROXY to the proxy's addresses",
  },
  {
    isHeld: ({ TRUST_PROXY, SHUTDOWN_DRAIN_MS }) => !TRUST_PROXY || SHUTDOWN_DRAIN_MS > 0,
    otherwise: 'A stop may refuse requests of the proxy: set SHUTDOWN_DRAIN_MS',
  },
  {
    isHeld: ({ RATE_LIMIT_PER_SECOND }) => RATE_LIMIT_PER_SECOND > 0,
    otherwise: 'One school may take the capacity of all: set RATE_LIMIT_PER_SECOND',
  },
  {
    isHeld: ({ EVENTS_RETENTION_DAYS }) => EVENTS_RETENTION_DAYS >= 7,
    otherwise: 'A client that is off for a week must read everything again: EVENTS_RETENTION_DAYS is below 7',
  },
  {
    isHeld: ({ DATABASE_URL }, { isEncrypted }) =>
      isEncrypted || DATABASE_URL === undefined || checks.isNear(DATABASE_URL),
    otherwise: 'The connection to the database is not encrypted: set sslmode in DATABASE_URL',
  },
];

/** `added` are those of other plugins. */
export const findBroken = (config: Config, connection: checks.Connection, added: checks.Condition[]) =>
  [embeddedCondition, ...added, ...conditions]
    .filter(({ isHeld }) => !isHeld(config, connection))
    .map(({ otherwise }) => checks.warning(otherwise));

export const createPromiseCheck = (added: checks.Condition[]): checks.SystemCheck => ({
  check: 'configuration',
  async run({ pool, config }) {
    const connection = await checks.queryOne<checks.Connection>(
      pool,
      'select ssl as "isEncrypted" from pg_stat_ssl where pid = pg_backend_pid()',
    );
    const broken = findBroken(config, connection, added);
    return broken.length > 0 ? broken : [checks.ok('It holds what the documentation promises')];
  },
});
