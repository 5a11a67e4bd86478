import { readFileSync, statSync } from 'node:fs';
import { toFileVariable, type Declaration } from './declare.ts';
import { unknownVariableWarnings } from './unknown-variables.ts';

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
  const given = secret ? '' : `, not ${show(raw)}`;
  const refuse = (rule: string) => new Error(`${label} must ${rule}${given}`);
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

/** In quotes, on one line, without user, password and query of a URL, and shortened. */
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
