import { Type, type Static } from '@sinclair/typebox';
import envSchema from 'env-schema';
import { BlockList, isIP } from 'node:net';
import { mayBeApiKey } from './lib/api-key.ts';
import { normalizeTitle, isEmailAddress, isTitle } from './lib/text.ts';
import { readSecretFile, resolveDeprecated, unknownVariableWarnings } from './lib/environment.ts';
import { languages } from './reference/language.ts';

const { Optional } = Type;
const text = (description: string, options = {}) => Type.String({ description, ...options });
const integer = (description: string, fallback: number, minimum = 1, maximum = 2_147_483_647) =>
  Type.Integer({ description, default: fallback, minimum, maximum });
const oneOf = <const T extends readonly string[]>(values: T, description: string, options = {}) =>
  Type.Unsafe<T[number]>({ type: 'string', enum: values, description, ...options });
const secretFile = (name: string) => Optional(text(`A file that holds \`${name}\``));

/** All environment variables; a test compares the README's table with this. */
export const Environment = Type.Object({
  NODE_ENV: Optional(text('`production`: no embedded database and no demo data unless enabled')),
  HOST: Optional(text('Address to listen on; default `127.0.0.1` with demo data, else `0.0.0.0`')),
  PORT: Type.Integer({ description: 'Port to listen on', default: 3000, minimum: 0, maximum: 65_535 }),
  PUBLIC_URL: Optional(text('Where this server is reached from outside; default `http://localhost:<PORT>`')),
  CATALOG_URL: Optional(text('Base URL of the public catalog; without it every `catalog_url` is null')),
  DATABASE_URL: Optional(text('A PostgreSQL to use; without it an embedded one is started under `DATA_DIR`')),
  DATABASE_URL_FILE: secretFile('DATABASE_URL'),
  EMBEDDED_DATABASE: Optional(
    Type.Boolean({
      description: 'Start an embedded database without `DATABASE_URL`; default true, with `NODE_ENV=production` false',
    }),
  ),
  DATA_DIR: text('Folder of the embedded database, of the demo key, and of mails without `SMTP_URL`', {
    default: './data',
  }),
  MIGRATE_ON_START: Type.Boolean({ description: 'Bring the tables up to date at start', default: true }),
  DEMO_DATA: Optional(
    Type.Boolean({
      description:
        'Load the demo data into an empty database; default true with the embedded database unless `NODE_ENV=production`, else false',
    }),
  ),
  BOOTSTRAP_API_KEY: Optional(
    text(
      'With `BOOTSTRAP_PROVIDER`: makes a first provider with this key (32 to 255 characters) in a database that has none',
    ),
  ),
  BOOTSTRAP_API_KEY_FILE: secretFile('BOOTSTRAP_API_KEY'),
  BOOTSTRAP_PROVIDER: Optional(text('The title of that first provider')),
  SMTP_URL: Optional(
    text('The mail server, such as `smtps://user:password@host`; without it mails are files under `DATA_DIR/mail`'),
  ),
  SMTP_URL_FILE: secretFile('SMTP_URL'),
  MAIL_FROM: Optional(text('The address mails come from; default `no-reply@` and the host of `PUBLIC_URL`')),
  TIMEZONE: text('The time zone of dates and times in responses and filters', { default: 'Europe/Oslo' }),
  DEFAULT_LANGUAGE: oneOf(languages, 'The language of labels when a request prefers none', { default: 'en' }),
  TRUST_PROXY: Optional(text('Comma-separated addresses or CIDR ranges of trusted proxies (X-Forwarded-For)')),
  WEBHOOKS: oneOf(['on', 'off'], 'off: no changes are sent to webhooks, for a copy of the database', { default: 'on' }),
  WEBHOOK_ALLOW: Optional(
    text('Comma-separated addresses or CIDR ranges that webhooks may call although they are not public'),
  ),
  LOG_LEVEL: oneOf(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'], 'How much is logged', {
    default: 'info',
  }),
  LOG_FORMAT: oneOf(
    ['auto', 'json', 'pretty'],
    '`json`: one object a line and nothing else; `pretty`: lines for people; `auto`: pretty on a terminal, else json',
    { default: 'auto' },
  ),
  DATABASE_CONNECT_TIMEOUT_MS: integer('How long a start waits for a database that does not respond yet', 30_000, 0),
  POOL_SIZE: integer('Database connections of this process; one list less than that is read at once', 4, 2),
  POOL_ACQUIRE_TIMEOUT_MS: integer(
    'How long a request waits for a free connection, or a list for a slot, before 503',
    1_500,
  ),
  WRITE_LOCK_TIMEOUT_MS: integer("How long a write waits for the provider's other writes before 503", 2_500),
  PREPARED_STATEMENTS: Type.Boolean({
    description: 'Let the database plan each statement once a connection; false for a transaction pooler that cannot',
    default: true,
  }),
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
  RATE_LIMIT_BURST: Optional(
    Type.Integer({
      description: 'How many of them may come at once; default twice as many as a second',
      minimum: 1,
      maximum: 2_147_483_647,
    }),
  ),
  EVENTS_RETENTION_DAYS: integer('How many days the change feed goes back', 30, 1, 3_650),
  SUB_SCHOOLS_MAX: integer('Sub-schools that one school may add; closed ones do not count', 50, 0),
  INVALID_KEYS_PER_MINUTE: integer('Invalid API keys from one address before 429', 60),
  PUBLIC_REQUESTS_PER_MINUTE: integer(
    'Requests of one address to pages and paths that need no key, before 429; not `/live`',
    600,
  ),
});

type Variables = Static<typeof Environment>;
export type Config = ReturnType<typeof readConfig>;

/** Former names, still accepted with a warning. */
const deprecatedNames = {
  ANSWER_CACHE_MB: 'RESPONSE_CACHE_MB',
  POOL_WAIT_MS: 'POOL_ACQUIRE_TIMEOUT_MS',
  WRITE_WAIT_MS: 'WRITE_LOCK_TIMEOUT_MS',
  STARTUP_WAIT_MS: 'DATABASE_CONNECT_TIMEOUT_MS',
  KEEP_ALIVE_MS: 'KEEP_ALIVE_TIMEOUT_MS',
  DRAIN_MS: 'SHUTDOWN_DRAIN_MS',
  STOP_MS: 'SHUTDOWN_TIMEOUT_MS',
  WRONG_KEYS_PER_MINUTE: 'INVALID_KEYS_PER_MINUTE',
} satisfies Record<string, keyof Variables>;

const secrets = ['DATABASE_URL', 'BOOTSTRAP_API_KEY', 'SMTP_URL'];
const variablePrefixes = ['DATABASE_', 'EMBEDDED_DATABASE_', 'SMTP_', 'BOOTSTRAP_', 'RATE_LIMIT_', 'DEMO_'];
const names = { current: Object.keys(Environment.properties), deprecated: deprecatedNames, prefixes: variablePrefixes };

/** Reads and validates the environment once. Throws one sentence that names variables, never values. */
export function readConfig(processEnv: NodeJS.ProcessEnv) {
  const { env, sources, warnings } = resolveDeprecated(processEnv, deprecatedNames);
  const variables = validate(readSecretFiles(env), sources);
  const trustProxy = toRanges(variables.TRUST_PROXY);
  const webhookAllow = toRanges(variables.WEBHOOK_ALLOW);
  const { PUBLIC_URL, CATALOG_URL, BOOTSTRAP_PROVIDER: title } = variables;
  const providerTitle = title === undefined ? undefined : normalizeTitle(title);
  const problems = [
    ...urlProblems({ PUBLIC_URL, CATALOG_URL }),
    ...(trustProxy.every(isRange) ? [] : ['TRUST_PROXY must list addresses or CIDR ranges']),
    ...(webhookAllow.every(isRange) ? [] : ['WEBHOOK_ALLOW must list addresses or CIDR ranges']),
    ...(isTimezone(variables.TIMEZONE) ? [] : ['TIMEZONE must be an IANA name such as Europe/Oslo']),
    ...databaseProblems(variables),
    ...mailProblems(variables),
    ...bootstrapProblems(variables, providerTitle),
  ];
  const allWarnings = [...warnings, ...unknownVariableWarnings(env, names)];
  if (problems.length > 0) throw invalidEnvironment([problems.join('; '), ...allWarnings].join('. '));

  const publicUrl = toBaseUrl(PUBLIC_URL ?? `http://localhost:${variables.PORT}`);
  const demoData = variables.DEMO_DATA ?? (variables.DATABASE_URL === undefined && !isProduction(variables));
  return {
    ...variables,
    HOST: variables.HOST ?? (demoData ? '127.0.0.1' : '0.0.0.0'),
    DEMO_DATA: demoData,
    warnings: allWarnings,
    PUBLIC_URL: publicUrl,
    CATALOG_URL: CATALOG_URL === undefined ? null : toBaseUrl(CATALOG_URL),
    MAIL_FROM: variables.MAIL_FROM ?? `no-reply@${new URL(publicUrl).hostname}`,
    trustProxy,
    webhookAllow,
    rate: toRate(variables),
    BOOTSTRAP_PROVIDER: providerTitle,
  };
}

const invalidEnvironment = (problems: string, options?: ErrorOptions) =>
  new Error(`The environment is not valid: ${problems}`, options);

type AjvError = { instancePath: string; message?: string; params: { allowedValues?: string[] } };

function validate(env: NodeJS.ProcessEnv, sources: Map<string, string>): Variables {
  const format = ({ instancePath, message, params: { allowedValues } }: AjvError) => {
    const name = instancePath.slice(1);
    const source = sources.has(name) ? ` (set as ${sources.get(name)})` : '';
    return `${name}${source} ${message}${allowedValues ? `: ${allowedValues.join(', ')}` : ''}`;
  };
  try {
    return envSchema.default<Variables>({ schema: Environment, data: env, env: false, dotenv: false });
  } catch (cause) {
    throw invalidEnvironment((cause as { errors: AjvError[] }).errors.map(format).join(', '), { cause });
  }
}

/** The known variables that are set, with secrets read from their files. */
function readSecretFiles(env: NodeJS.ProcessEnv) {
  const known = Object.fromEntries(
    Object.entries(env).filter(([name, value]) => name in Environment.properties && value !== ''),
  );
  for (const name of secrets) {
    const variable = `${name}_FILE`;
    const file = known[variable];
    if (file === undefined) continue;
    if (known[name] !== undefined) throw invalidEnvironment(`${name} and ${variable} exclude each other`);
    known[name] = readSecretFile(variable, file);
  }
  return known;
}

const isProduction = ({ NODE_ENV }: { NODE_ENV?: string }) => NODE_ENV === 'production';

const urlProblems = (urls: Record<string, string | undefined>) =>
  Object.entries(urls)
    .filter(([, url]) => url !== undefined && !isHttpUrl(url))
    .map(([name]) => `${name} must be an http or https address without ? and #`);

const mailProblems = ({ SMTP_URL, MAIL_FROM }: Variables) => [
  ...(SMTP_URL === undefined || isSmtpUrl(SMTP_URL) ? [] : ['SMTP_URL must be an smtp or smtps address']),
  ...(MAIL_FROM === undefined || isEmailAddress(MAIL_FROM) ? [] : ['MAIL_FROM must be an e-mail address alone']),
];

const bootstrapProblems = ({ BOOTSTRAP_API_KEY: key }: Variables, title: string | undefined) => [
  ...(title === undefined || isTitle(title) ? [] : ['BOOTSTRAP_PROVIDER must have 1 to 255 characters']),
  ...((key === undefined) === (title === undefined) ? [] : ['BOOTSTRAP_API_KEY and BOOTSTRAP_PROVIDER go together']),
  ...(key === undefined || /^[\x21-\x7e]{32,255}$/.test(key)
    ? []
    : ['BOOTSTRAP_API_KEY must have 32 to 255 characters, ASCII without blanks']),
  ...(key === undefined || !key.startsWith('cbs_') || mayBeApiKey(key)
    ? []
    : ['BOOTSTRAP_API_KEY looks like a generated key but is mistyped']),
];

function databaseProblems(variables: Variables) {
  const { DATABASE_URL: url, EMBEDDED_DATABASE: embedded } = variables;
  if (url === undefined) {
    if (embedded ?? !isProduction(variables)) return [];
    return ['DATABASE_URL is missing; for the embedded database set EMBEDDED_DATABASE=true'];
  }
  return [
    ...(embedded ? ['DATABASE_URL and EMBEDDED_DATABASE=true exclude each other'] : []),
    ...(/^postgres(ql)?:\/\//.test(url) ? [] : ['DATABASE_URL must begin with postgres://']),
    ...(isReadableUrl(url)
      ? []
      : ['DATABASE_URL is not a valid URL: percent-encode special characters in user and password']),
  ];
}

/** Without a host the driver connects to a Unix socket. */
function isReadableUrl(url: string) {
  try {
    const { username, password, pathname } = new URL(url.replace('@/', '@localhost/'));
    for (const part of [username, password, pathname]) decodeURIComponent(part);
    return true;
  } catch {
    return false;
  }
}

/** Undefined without a limit. */
const toRate = ({ RATE_LIMIT_PER_SECOND: perSecond, RATE_LIMIT_BURST: burst }: Variables) =>
  perSecond === 0 ? undefined : { perSecond, burst: burst ?? 2 * perSecond };

const toRanges = (list = '') =>
  list
    .split(',')
    .map((range) => range.trim())
    .filter(Boolean);

/** Normalised, without a trailing slash: `HTTPS://X.example/` becomes `https://x.example`. */
const toBaseUrl = (url: string) => new URL(url).href.replace(/\/+$/, '');
const isHttpUrl = (url: string) => URL.canParse(url) && /^https?:$/.test(new URL(url).protocol) && !/[?#]/.test(url);

function isSmtpUrl(url: string) {
  try {
    const { protocol, hostname, username, password } = new URL(url);
    return /^smtps?:$/.test(protocol) && hostname !== '' && Boolean(decodeURIComponent(`x${username}${password}`));
  } catch {
    return false;
  }
}

function isRange(range: string) {
  const [address = '', bits] = range.split('/');
  const family = isIP(address);
  if (family === 0) return false;
  try {
    if (bits !== undefined) new BlockList().addSubnet(address, Number(bits), family === 6 ? 'ipv6' : 'ipv4');
    return true;
  } catch {
    return false;
  }
}

function isTimezone(name: string) {
  try {
    return Boolean(new Intl.DateTimeFormat('en', { timeZone: name })) && /^[A-Za-z]/.test(name);
  } catch {
    return false;
  }
}
