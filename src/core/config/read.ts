import { readFileSync, statSync } from 'node:fs';
import { toFileVariable, type Declaration } from './declare.ts';

type Declarations = Record<string, Declaration>;

/** Where a value is from; `name` is that of a file. */
export type Source = { kind: 'default' | 'environment' | 'file'; name?: string };

/** All problems of an environment, with the warnings that may explain them. */
export class ConfigError extends Error {
  readonly lines: string[];
  constructor(problems: string[], warnings: string[]) {
    super(`The environment is not valid: ${[problems.join('; '), ...warnings].join('. ')}`);
    this.lines = ['The environment is not valid:', ...[...problems, ...warnings].map((line) => `- ${line}`)];
  }
}

/** The values of the declared variables. `problems` are complete sentences, which show no secret. */
export function readVariables(env: NodeJS.ProcessEnv, declarations: Declarations, prefixes: string[]) {
  const values: Record<string, unknown> = {};
  const sources: Record<string, Source> = {};
  const problems: string[] = [];
  for (const [name, declaration] of Object.entries(declarations)) {
    try {
      const { raw, source } = find(env, name, declaration);
      sources[name] = source;
      const value: unknown =
        raw === undefined ? declaration.default : parse(raw, describeName(name, source), declaration);
      if (value !== undefined) values[name] = value;
    } catch (error) {
      problems.push((error as Error).message);
    }
  }
  const warnings = unknownVariableWarnings(env, Object.keys(declarations), prefixes);
  return { values, sources, problems, warnings };
}

const describeName = (name: string, { kind }: Source) =>
  kind === 'file' ? `${name} (from ${toFileVariable(name)})` : name;

/** An empty variable counts as not set. */
const read = (env: NodeJS.ProcessEnv, name: string) => env[name] || undefined;

type Found = { raw?: string; source: Source };

function find(env: NodeJS.ProcessEnv, name: string, { secret }: Pick<Declaration, 'secret'>): Found {
  const own = read(env, name);
  const file = secret ? read(env, toFileVariable(name)) : undefined;
  if (own !== undefined && file !== undefined)
    throw new Error(`${name} and ${toFileVariable(name)} exclude each other`);
  if (file !== undefined) return { raw: readSecretFile(name, file), source: { kind: 'file', name: file } };
  return own === undefined ? { source: { kind: 'default' } } : { raw: own, source: { kind: 'environment' } };
}

/** Throws a sentence about what the value must be. */
function parse(raw: string, label: string, { type, enum: values, minimum, maximum, check, secret }: Declaration) {
  const suffix = secret ? '' : `, not ${show(raw)}`;
  const refuse = (rule: string) => new Error(`${label} must ${rule}${suffix}`);
  if (type === 'boolean') {
    if (!['true', 'false'].includes(raw)) throw refuse('be true or false');
    return raw === 'true';
  }
  if (type === 'integer') {
    const value = raw.trim() === '' ? NaN : Number(raw);
    if (!Number.isInteger(value) || value < minimum || value > maximum)
      throw refuse(`be a whole number from ${minimum} to ${maximum}`);
    return value;
  }
  if (values && !values.includes(raw)) throw refuse(`be one of ${values.join(', ')}`);
  const rule = check?.(raw);
  if (rule !== undefined) throw refuse(rule);
  return raw;
}

/** Quotes and shortens a value on one line, without user, password and query of a URL. */
const show = (raw: string) =>
  JSON.stringify(
    raw
      .replace(/\/\/[^/@]*@/, '//***@')
      .replace(/\?.+/s, '?***')
      .replace(/^(.{80}).+$/s, '$1…'),
  );

const maxSecretBytes = 65_536;

/** The content of a secret's file without trailing line breaks. */
function readSecretFile(name: string, file: string) {
  let text: string;
  try {
    if (statSync(file).size > maxSecretBytes) throw new Error('it is too long');
    text = readFileSync(file, 'utf8').replace(/(?<![\r\n])[\r\n]+$/, '');
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    throw new Error(`${toFileVariable(name)} names a file that cannot be read (${code ?? message})`, { cause: error });
  }
  if (text === '') throw new Error(`${toFileVariable(name)} names an empty file`);
  return text;
}

/** Kubernetes sets these for every service of a namespace, so one may be named `database` or `smtp`. */
const isServiceLink = (name: string, value = '') =>
  /_SERVICE_(HOST|PORT)(_|$)|_PORT_\d+_(TCP|UDP)/.test(name) ||
  (name.endsWith('_PORT') && /^(tcp|udp|sctp):\/\//.test(value));

/** One warning for each removed variable that is set, and each unknown one that begins with one of `prefixes`. */
const unknownVariableWarnings = (env: NodeJS.ProcessEnv, known: string[], prefixes: string[]) =>
  Object.keys(env).flatMap((name) => {
    if (env[name] === '' || known.includes(name) || isServiceLink(name, env[name])) return [];
    const advice = removedVariables[name];
    if (advice !== undefined) return [`The variable ${name} has no effect any more: ${advice}`];
    const hasPrefix = prefixes.some((prefix) => name.toUpperCase().startsWith(prefix));
    return hasPrefix ? [`The variable ${name} is not known and has no effect`] : [];
  });

const fixed = (value: string) => `it is ${value} now`;

/** Variables of earlier versions, with what to do about them. */
const removedVariables: Record<string, string> = {
  EMBEDDED_DATABASE: 'in production set DATABASE_URL=embedded instead',
  POOL_ACQUIRE_TIMEOUT_MS: 'set STATEMENT_TIMEOUT_MS, 0.3 of which it is now',
  WRITE_LOCK_TIMEOUT_MS: 'set STATEMENT_TIMEOUT_MS, half of which it is now',
  DATABASE_CONNECT_TIMEOUT_MS: fixed('30000'),
  HEADERS_TIMEOUT_MS: 'set REQUEST_TIMEOUT_MS, which includes it',
  PREPARED_STATEMENTS: 'a pooler that loses prepared statements is noticed',
  RATE_LIMIT_BURST: 'set RATE_LIMIT_PER_SECOND; twice as many may come at once',
  SUB_SCHOOLS_MAX: fixed('50'),
  TOKENS_RETENTION_DAYS: fixed('1'),
  SESSIONS_RETENTION_DAYS: fixed('0'),
  SIGN_ON_FAILURES_RETENTION_DAYS: fixed('0'),
  IDEMPOTENCY_RETENTION_DAYS: fixed('0'),
  CATALOG_POSTS_RETENTION_DAYS: fixed('0'),
  INTERESTS_RETENTION_DAYS: fixed('30'),
  BACKUP_RUNS_RETENTION_DAYS: fixed('400'),
  USAGE_RETENTION_DAYS: fixed('400'),
  STAGED_LINES_RETENTION_DAYS: fixed('7'),
  IMPORT_REFS_RETENTION_DAYS: 'an import recognises each earlier `ref`',
  MAIL_DKIM_SELECTORS: 'see "The domain of the sender" in docs/operate/operating.md',
};
