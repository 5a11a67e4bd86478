import { Type, type Static } from '@sinclair/typebox';
import { join } from 'node:path';
import * as check from './config/checks.ts';
import { boolean, integer, oneOf, secret, text, withFiles } from './config/declare.ts';
import { ConfigError, readVariables } from './config/read.ts';
import { normalizeTitle } from './text.ts';
import { languages } from './reference/language.ts';

const { Optional } = Type;
const days = (description: string, fallback?: number, minimum = 0) => integer(description, fallback, minimum, 3_650);

/** All environment variables, one entry each; a test compares docs/configuration.md with this. */
export const Environment = Type.Object(
  withFiles({
    NODE_ENV: Optional(
      oneOf(
        ['production', 'development', 'test'],
        '`production`: no embedded database and no demo data unless enabled',
      ),
    ),
    HOST: Optional(text('Address to listen on; default `127.0.0.1` with demo data, else `0.0.0.0`')),
    PORT: integer('Port to listen on', 3000, 0, 65_535),
    PUBLIC_URL: Optional(
      text('Where this server is reached from outside; default `http://localhost:<PORT>`', { check: check.httpUrl }),
    ),
    CATALOG_URL: Optional(
      text('Base URL of the public catalog; without it every `catalog_url` is null', { check: check.httpUrl }),
    ),
    DATABASE_URL: Optional(
      secret('A PostgreSQL to use; without it an embedded one is started under `DATA_DIR`', {
        check: check.databaseUrl,
      }),
    ),
    DATABASE_READ_URL: Optional(
      secret(
        'A standby of `DATABASE_URL`: lists are read from it once it has replayed every acknowledged write of the school',
        {
          check: check.databaseUrl,
        },
      ),
    ),
    EMBEDDED_DATABASE: Optional(
      boolean('Start an embedded database without `DATABASE_URL`; default true, with `NODE_ENV=production` false'),
    ),
    DATA_DIR: text(
      'Folder of the embedded database, of the demo key, of mails without `SMTP_URL`, and of backups without `BACKUP_DIR`',
      { default: './data' },
    ),
    BACKUP_AT: Optional(
      text(
        'When a backup is made each night, such as `03:15` in `TIMEZONE`; `elsewhere`: `backup --nightly` in another process makes it; or `off`; default `03:15` with the embedded database, else `off`',
        { check: check.backupTime },
      ),
    ),
    BACKUP_DIR: Optional(text('Folder of the backups; default `backups` in `DATA_DIR`')),
    MIGRATE_ON_START: boolean('Bring the tables up to date at start', true),
    DEMO_DATA: Optional(
      boolean(
        'Load the demo data into an empty database; default true with the embedded database unless `NODE_ENV=production`, else false',
      ),
    ),
    BOOTSTRAP_API_KEY: Optional(
      secret(
        'With `BOOTSTRAP_PROVIDER`: makes a first provider with this key (32 to 255 characters) in a database that has none',
        { check: check.firstApiKey },
      ),
    ),
    BOOTSTRAP_PROVIDER: Optional(text('The title of that first provider', { check: check.title })),
    SMTP_URL: Optional(
      secret('The mail server, such as `smtps://user:password@host`; without it see `MAIL_TO_FILES`', {
        check: check.smtpUrl,
      }),
    ),
    MAIL_TO_FILES: Optional(
      boolean(
        'Without `SMTP_URL`: mails are files under `DATA_DIR/mail`, else they wait for a server with `SMTP_URL`; default `true` with the embedded database, else `false`',
      ),
    ),
    MAIL_FROM: Optional(
      text('The address mails come from; default `no-reply@` and the host of `PUBLIC_URL`', { check: check.email }),
    ),
    TIMEZONE: text('The time zone of dates and times in responses and filters', {
      default: 'Europe/Oslo',
      check: check.timezone,
    }),
    DEFAULT_LANGUAGE: oneOf(languages, 'The language of labels when a request prefers none', { default: 'en' }),
    TRUST_PROXY: Optional(
      text('Comma-separated addresses or CIDR ranges of trusted proxies (X-Forwarded-For)', { check: check.ranges }),
    ),
    REQUIRE_HTTPS: boolean(
      'Refuse API keys that were sent over plain http, by X-Forwarded-Proto of a trusted proxy; needs `TRUST_PROXY`',
      false,
    ),
    WEBHOOKS: oneOf(['on', 'off'], 'off: no changes are sent to webhooks, for a copy of the database', {
      default: 'on',
    }),
    WEBHOOK_ALLOW: Optional(
      text('Comma-separated addresses or CIDR ranges that webhooks may call although they are not public', {
        check: check.ranges,
      }),
    ),
    LOG_LEVEL: oneOf(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'], 'How much is logged', {
      default: 'info',
    }),
    LOG_FORMAT: oneOf(
      ['auto', 'json', 'pretty'],
      '`json`: one object a line and nothing else; `pretty`: lines for people; `auto`: pretty on a terminal, else json',
      { default: 'auto' },
    ),
    LOG_REQUESTS: oneOf(
      ['all', 'errors', 'off'],
      'Which responses get a line at the level `info`: `all`, `errors` (from status 400, and aborted requests), or `off`',
      { default: 'errors' },
    ),
    ADMIN_PORT: Optional(
      integer(
        'A port that serves `/metrics` alone, not to be reached from outside; none unless set',
        undefined,
        0,
        65_535,
      ),
    ),
    ADMIN_HOST: text('Address that `ADMIN_PORT` listens on', { default: '127.0.0.1' }),
    METRICS_TOKEN: Optional(
      secret(
        '`/metrics` needs `Authorization: Bearer` with it, of 16 characters at least, and is served on `PORT` too',
        {
          check: check.token,
        },
      ),
    ),
    DATABASE_CONNECT_TIMEOUT_MS: integer('How long a start waits for a database that does not respond yet', 30_000, 0),
    POOL_SIZE: integer('Database connections of this process; one list less than that is read at once', 4, 2),
    POOL_ACQUIRE_TIMEOUT_MS: integer(
      'How long a request waits for a free connection, or a list for a slot, before 503',
      1_500,
    ),
    WRITE_LOCK_TIMEOUT_MS: integer("How long a write waits for the provider's other writes before 503", 2_500),
    PREPARED_STATEMENTS: boolean(
      'Let the database plan each statement once a connection; false for a transaction pooler that cannot',
      true,
    ),
    STATEMENT_TIMEOUT_MS: integer('How long one SQL statement may take, and a write beyond its wait', 5_000),
    // Node's maximum.
    HEADERS_TIMEOUT_MS: integer('How long a client may take to send its headers; at most 300000', 10_000, 1, 300_000),
    REQUEST_TIMEOUT_MS: integer('How long a client may take to send its whole request', 10_000),
    KEEP_ALIVE_TIMEOUT_MS: integer('How long an idle connection stays open', 10_000),
    SHUTDOWN_DRAIN_MS: integer('How long /ready responds 503 before a stopping server closes its port', 0, 0),
    SHUTDOWN_TIMEOUT_MS: integer('How long requests in flight may take to end when the server stops', 10_000),
    BODY_LIMIT: integer('The largest body in bytes', 1_048_576),
    RESPONSE_CACHE_MB: integer(
      'Memory for cached responses of lists, valid until the data changes; 0 disables the cache',
      12,
      0,
    ),
    RATE_LIMIT_PER_SECOND: integer('Requests of one provider a second before 429; 0 is no limit', 0, 0),
    PUBLISHABLE_RATE_PER_ADDRESS: integer(
      'Requests of one address a second with publishable keys before 429, twice as many at once; 0 is no limit',
      20,
      0,
    ),
    RATE_LIMIT_BURST: Optional(integer('How many of them may come at once; default twice as many as a second')),
    EVENTS_RETENTION_DAYS: days('How many days the change feed goes back', 30, 1),
    AUDIT_RETENTION_DAYS: days('How many days the audit log goes back', 365, 1),
    MAIL_RETENTION_DAYS: days('How many days a mail remains in the outbox after it was sent, or has failed', 90, 1),
    TOKENS_RETENTION_DAYS: days('How many days a link of a mail or a sign-on remains after its end', 1),
    SESSIONS_RETENTION_DAYS: days('How many days a session of a course user remains after its end', 0),
    SIGN_ON_FAILURES_RETENTION_DAYS: days('How many days the count of failed sign-ons remains after its 15 minutes', 0),
    IDEMPOTENCY_RETENTION_DAYS: days(
      'How many days an `Idempotency-Key` remains after its 24 hours, without effect',
      0,
    ),
    BACKUP_RUNS_RETENTION_DAYS: days('How many days the record of a backup remains, not its file', 400, 8),
    USAGE_RETENTION_DAYS: days('How many days the counted requests of each provider remain', 400, 1),
    IMPORT_REFS_RETENTION_DAYS: Optional(
      days('How many days an import recognises the `ref` of an earlier one; for ever unless set', undefined, 1),
    ),
    STAGED_LINES_RETENTION_DAYS: days('How many days the lines of an import that was interrupted remain', 7, 2),
    SUB_SCHOOLS_MAX: integer('Sub-schools that one school may add; closed ones do not count', 50, 0),
    INVALID_KEYS_PER_MINUTE: integer('Invalid API keys from one address before 429', 60),
    PUBLIC_REQUESTS_PER_MINUTE: integer(
      'Requests of one address to paths that need no key, before 429; `/live` and `/ready` close the connection',
      600,
    ),
  }),
);

type Variables = Static<typeof Environment>;
export type Config = ReturnType<typeof readConfig>;
export { ConfigError };

/** An unknown variable with one of these causes a warning. */
const prefixes = ['DATABASE_', 'EMBEDDED_DATABASE_', 'SMTP_', 'BOOTSTRAP_', 'RATE_LIMIT_', 'WEBHOOK_', 'DEMO_'];

/** Reads and validates the environment once. Throws all problems as one `ConfigError`, which shows no secret. */
export function readConfig(env: NodeJS.ProcessEnv) {
  const { values, sources, problems, warnings } = readVariables(env, Environment.properties, prefixes);
  const variables = values as Variables;
  const isSet = (name: keyof Variables) => sources[name]?.kind !== 'default';
  problems.push(...databaseProblems(variables, isSet), ...bootstrapProblems(isSet), ...httpsProblems(variables));
  if (problems.length > 0) throw new ConfigError(problems, warnings);

  const { PUBLIC_URL, CATALOG_URL, BOOTSTRAP_PROVIDER } = variables;
  const publicUrl = toBaseUrl(PUBLIC_URL ?? `http://localhost:${variables.PORT}`);
  const isEmbedded = variables.DATABASE_URL === undefined;
  const demoData = variables.DEMO_DATA ?? (isEmbedded && !isProduction(variables));
  return {
    ...variables,
    HOST: variables.HOST ?? (demoData ? '127.0.0.1' : '0.0.0.0'),
    EMBEDDED_DATABASE: isEmbedded,
    DEMO_DATA: demoData,
    BACKUP_AT: variables.BACKUP_AT ?? (isEmbedded ? '03:15' : 'off'),
    BACKUP_DIR: variables.BACKUP_DIR ?? join(variables.DATA_DIR, 'backups'),
    PUBLIC_URL: publicUrl,
    CATALOG_URL: CATALOG_URL === undefined ? null : toBaseUrl(CATALOG_URL),
    MAIL_TO_FILES: variables.MAIL_TO_FILES ?? isEmbedded,
    MAIL_FROM: variables.MAIL_FROM ?? `no-reply@${new URL(publicUrl).hostname}`,
    BOOTSTRAP_PROVIDER: BOOTSTRAP_PROVIDER === undefined ? undefined : normalizeTitle(BOOTSTRAP_PROVIDER),
    trustProxy: check.toRanges(variables.TRUST_PROXY),
    webhookAllow: check.toRanges(variables.WEBHOOK_ALLOW),
    rate: toRate(variables),
    /** Nothing is set, and only the embedded database has a default time. */
    isBackupUndecided: variables.BACKUP_AT === undefined && !isEmbedded,
    sources,
    warnings,
  };
}

const isProduction = ({ NODE_ENV }: { NODE_ENV?: string }) => NODE_ENV === 'production';

/** True also for a variable whose value is wrong. */
type IsSet = (name: keyof Variables) => boolean;

const bootstrapProblems = (isSet: IsSet) =>
  isSet('BOOTSTRAP_API_KEY') === isSet('BOOTSTRAP_PROVIDER')
    ? []
    : ['BOOTSTRAP_API_KEY and BOOTSTRAP_PROVIDER go together'];

function httpsProblems({ REQUIRE_HTTPS, TRUST_PROXY, PUBLIC_URL = 'http:' }: Partial<Variables>) {
  if (REQUIRE_HTTPS !== true) return [];
  return [
    ...(TRUST_PROXY === undefined ? ['REQUIRE_HTTPS=true needs TRUST_PROXY: the proxy tells the protocol'] : []),
    ...(/^https:/i.test(PUBLIC_URL) ? [] : ['REQUIRE_HTTPS=true needs a PUBLIC_URL that begins with https:']),
  ];
}

function databaseProblems(variables: Variables, isSet: IsSet) {
  const { EMBEDDED_DATABASE: embedded } = variables;
  if (isSet('DATABASE_URL')) return embedded ? ['DATABASE_URL and EMBEDDED_DATABASE=true exclude each other'] : [];
  if (embedded ?? !isProduction(variables)) return [];
  return ['DATABASE_URL is missing; for the embedded database set EMBEDDED_DATABASE=true'];
}

/** Undefined without a limit. */
const toRate = ({ RATE_LIMIT_PER_SECOND: perSecond, RATE_LIMIT_BURST: burst }: Variables) =>
  perSecond === 0 ? undefined : { perSecond, burst: burst ?? 2 * perSecond };

/** Normalised, without a trailing slash: `HTTPS://X.example/` becomes `https://x.example`. */
const toBaseUrl = (url: string) => new URL(url).href.replace(/\/+$/, '');
