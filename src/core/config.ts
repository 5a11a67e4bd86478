import { Type, type Static, type TObject, type TProperties } from '@sinclair/typebox';
import * as check from './config/checks.ts';
import { boolean, days, integer, choice, secret, text, withFiles, type Declaration } from './config/declare.ts';
import { ConfigError, readVariables } from './config/read.ts';
import { languages } from './reference/language.ts';
import type { Settings } from './settings.ts';
import { normalizeTitle } from './text.ts';

const { Optional } = Type;

/** The variables of the core; a test compares docs/reference/configuration.md with these and those of the plugins. */
const coreVariables = {
  NODE_ENV: Optional(
    choice(
      ['production', 'development', 'test'],
      '`production`: no embedded database and no demo data unless they are set',
    ),
  ),
  HOST: Optional(text('Address to listen on; default `127.0.0.1` with demo data, else `0.0.0.0`')),
  PORT: integer('Port to listen on', 3000, 0, 65_535),
  PUBLIC_URL: Optional(
    text('Where this server is reached from outside; default `http://localhost:<PORT>`', { check: check.httpUrl }),
  ),
  CATALOG_URL: Optional(
    text('Base URL of a catalog elsewhere; without it `catalog_url` is in the catalog of the school, or null', {
      check: check.httpUrl,
    }),
  ),
  DATABASE_URL: Optional(
    secret('A PostgreSQL to use; `embedded` starts one under `DATA_DIR`, the default unless `NODE_ENV=production`', {
      check: check.databaseUrl,
    }),
  ),
  DATABASE_READ_URL: Optional(
    secret(
      'A standby of `DATABASE_URL`: lists are read from it once it has replayed every acknowledged write of the school',
      { check: check.postgresUrl },
    ),
  ),
  DATA_DIR: text(
    'Folder of the embedded database, of the demo key, of mails without `SMTP_URL`, and of backups without `BACKUP_DIR`',
    { default: './data' },
  ),
  MIGRATE_ON_START: boolean('Bring the tables up to date at start', true),
  BOOTSTRAP_API_KEY: Optional(
    secret(
      'With `BOOTSTRAP_PROVIDER`: makes a first provider with this key (32 to 255 characters) in a database that has none',
      { check: check.firstApiKey },
    ),
  ),
  BOOTSTRAP_PROVIDER: Optional(text('The title of that first provider', { check: check.title })),
  TIMEZONE: text('The time zone of dates and times in responses and filters', {
    default: 'Europe/Oslo',
    check: check.timezone,
  }),
  DEFAULT_LANGUAGE: choice(languages, 'The language of labels when a request prefers none', { default: 'en' }),
  TRUST_PROXY: Optional(
    text('Comma-separated addresses or CIDR ranges of trusted proxies (X-Forwarded-For)', { check: check.ranges }),
  ),
  REQUIRE_HTTPS: boolean(
    'Refuse API keys that were sent over plain http, by X-Forwarded-Proto of a trusted proxy; needs `TRUST_PROXY`',
    false,
  ),
  LOG_LEVEL: choice(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'], 'How much is logged', {
    default: 'info',
  }),
  LOG_FORMAT: choice(
    ['auto', 'json', 'pretty'],
    '`json`: one object a line and nothing else; `pretty`: lines for people; `auto`: pretty on a terminal, else json',
    { default: 'auto' },
  ),
  LOG_REQUESTS: choice(
    ['all', 'errors', 'off'],
    'Which responses get a line at the level `info`: `all`, `errors` (from status 400, and aborted requests), or `off`',
    { default: 'errors' },
  ),
  POOL_SIZE: integer('Database connections of this process; one list less than that is read at once', 4, 2),
  STATEMENT_TIMEOUT_MS: integer(
    'How long one SQL statement may take; a write waits half of it for other writes of its school, a request 0.3 of it for a free connection or a slot of lists, before 503',
    5_000,
  ),
  // 300 s is Node's maximum for the headers.
  REQUEST_TIMEOUT_MS: integer(
    'How long a client may take to send its whole request; at most 300000',
    10_000,
    1,
    300_000,
  ),
  KEEP_ALIVE_TIMEOUT_MS: integer('How long an idle connection stays open', 10_000),
  SHUTDOWN_DRAIN_MS: integer('How long /ready responds 503 before a stopping server closes its port', 0, 0),
  SHUTDOWN_TIMEOUT_MS: integer('How long requests in flight may take to end when the server stops', 10_000),
  BODY_LIMIT: integer('The largest body in bytes', 1_048_576),
  RESPONSE_CACHE_MB: integer(
    'Memory for cached responses of lists, valid until the data changes; 0 disables the cache',
    12,
    0,
  ),
  RATE_LIMIT_PER_SECOND: integer(
    'Requests of one provider a second before 429, twice as many at once; 0 is no limit',
    0,
    0,
  ),
  PUBLISHABLE_RATE_PER_ADDRESS: integer(
    'Requests of one address a second with publishable keys before 429, twice as many at once; 0 is no limit',
    20,
    0,
  ),
  EVENTS_RETENTION_DAYS: days('How many days the change feed goes back', 30, 1),
  AUDIT_RETENTION_DAYS: days('How many days the audit log goes back', 365, 1),
  INVOICE_RETENTION_YEARS: integer(
    'For how many years after that of an invoice its buyer is kept, although the person is erased',
    5,
    0,
    100,
  ),
  INVALID_KEYS_PER_MINUTE: integer('Invalid API keys from one address before 429', 60),
  PUBLIC_REQUESTS_PER_MINUTE: integer(
    'Requests of one address to paths that need no key, before 429; `/live` and `/ready` close the connection',
    600,
  ),
};

type Variables = Static<TObject<typeof coreVariables>>;
export { ConfigError };

/** An unknown variable with one of these causes a warning. */
const prefixes = ['DATABASE_', 'BOOTSTRAP_', 'RATE_LIMIT_'];

/** The variables of a plugin, and its values in force, which it gets by `config.of`. */
export type PluginSettings<Values extends object = object> = {
  variables: TProperties;
  /** The core variable that a variable of the group follows in lists; others follow the one before. */
  after: Record<string, string>;
  prefixes?: string[];
  toValues(variables: never, core: CoreConfig): Values;
  /** The default of HOST, if the plugin has another one. */
  toHost?(values: Values): string | undefined;
};

export const defineSettings = <const P extends TProperties, Values extends object>(group: {
  variables: P;
  after: Partial<Record<keyof P & string, keyof Variables>>;
  prefixes?: string[];
  toValues(variables: Static<TObject<P>>, core: CoreConfig): Values;
  toHost?(values: Values): string | undefined;
}): PluginSettings<Values> => group as PluginSettings<Values>;

type WithSettings = { settings?: PluginSettings };

/** All environment variables, in the order of lists and messages. */
export function declareVariables(plugins: readonly WithSettings[]): Record<string, Declaration> {
  const all: [string, Declaration][] = Object.entries(coreVariables);
  // From the last one, since each group comes directly behind the variable that it follows.
  for (const { settings } of plugins.toReversed()) {
    let before: string | undefined;
    for (const entry of Object.entries(settings?.variables ?? {})) {
      const anchor = settings!.after[entry[0]] ?? before;
      const index = all.findIndex(([name]) => name === anchor);
      if (index < 0) throw new Error(`${entry[0]} follows ${anchor}, which is no variable`);
      all.splice(index + 1, 0, entry);
      before = entry[0];
    }
  }
  return withFiles(Object.fromEntries(all));
}

export type Config = ReturnType<typeof readConfig>;

/** Reads and validates the environment once. Throws all problems as one `ConfigError`, which shows no secret. */
export function readConfig(env: NodeJS.ProcessEnv, plugins: readonly WithSettings[] = []) {
  const groups = plugins.flatMap(({ settings }) => settings ?? []);
  const declarations = declareVariables(plugins);
  const allPrefixes = [...prefixes, ...groups.flatMap((group) => group.prefixes ?? [])];
  const { values, sources, problems, warnings } = readVariables(env, declarations, allPrefixes);
  const variables = values as Variables;
  const isSet = (name: keyof Variables) => sources[name]?.kind !== 'default';
  problems.push(...databaseProblems(variables, isSet), ...bootstrapProblems(isSet), ...httpsProblems(variables));
  if (problems.length > 0) throw new ConfigError(problems, warnings);

  const core = toCoreConfig(variables);
  const ofGroups = new Map(groups.map((group) => [group, group.toValues(values as never, core)] as const));
  const hosts = [...ofGroups].flatMap(([group, own]) => group.toHost?.(own) ?? []);
  const config = { ...core, HOST: variables.HOST ?? hosts[0] ?? '0.0.0.0' };
  return {
    ...config,
    declarations,
    sources,
    warnings,
    /** The values in force by name, also those of plugins. */
    values: Object.assign({}, config, ...ofGroups.values()) as Record<string, unknown>,
    /** The values of a plugin. */
    of: <Values extends object>(group: PluginSettings<Values>) => ofGroups.get(group) as Values,
  };
}

type CoreConfig = ReturnType<typeof toCoreConfig>;

function toCoreConfig(variables: Variables) {
  const { PUBLIC_URL, CATALOG_URL, BOOTSTRAP_PROVIDER } = variables;
  const DATABASE_URL = variables.DATABASE_URL === check.embedded ? undefined : variables.DATABASE_URL;
  return {
    ...variables,
    /** Undefined: the embedded database. */
    DATABASE_URL,
    isEmbedded: DATABASE_URL === undefined,
    acquireMs: Math.ceil(0.3 * variables.STATEMENT_TIMEOUT_MS),
    writeMs: Math.ceil(0.5 * variables.STATEMENT_TIMEOUT_MS),
    PUBLIC_URL: toBaseUrl(PUBLIC_URL ?? `http://localhost:${variables.PORT}`),
    CATALOG_URL: CATALOG_URL === undefined ? null : toBaseUrl(CATALOG_URL),
    BOOTSTRAP_PROVIDER: BOOTSTRAP_PROVIDER === undefined ? undefined : normalizeTitle(BOOTSTRAP_PROVIDER),
    trustProxy: check.toList(variables.TRUST_PROXY),
    rate: toRate(variables),
  };
}

export const toSettings = (config: CoreConfig): Settings => ({
  timezone: config.TIMEZONE,
  defaultLanguage: config.DEFAULT_LANGUAGE,
  publicUrl: config.PUBLIC_URL,
  catalogUrl: config.CATALOG_URL,
  invoiceRetentionYears: config.INVOICE_RETENTION_YEARS,
});

export const isProduction = ({ NODE_ENV }: { NODE_ENV?: string }) => NODE_ENV === 'production';

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

const databaseProblems = (variables: Variables, isSet: IsSet) =>
  isSet('DATABASE_URL') || !isProduction(variables)
    ? []
    : [`DATABASE_URL is missing; \`${check.embedded}\` is the embedded database`];

/** Undefined without a limit. */
const toRate = ({ RATE_LIMIT_PER_SECOND: perSecond }: Variables) =>
  perSecond === 0 ? undefined : { perSecond, burst: 2 * perSecond };

/** Normalised, without a trailing slash: `HTTPS://X.example/` becomes `https://x.example`. */
const toBaseUrl = (url: string) => /^.*[^/]/.exec(new URL(url).href)![0];
