import leven from 'leven';
import { readFileSync, statSync } from 'node:fs';

/** Kubernetes sets these for every service of a namespace, so one may be named `database` or `smtp`. */
const isServiceLink = (name: string) => /_SERVICE_(HOST|PORT)(_|$)|_PORT(_\d+_(TCP|UDP)|$)/.test(name);

const isSet = (value: string | undefined): value is string => value !== undefined && value !== '';

/**
 * Moves values from deprecated names to current ones; a value under the current name wins. `sources` maps a current
 * name to the deprecated one that its value came from.
 */
export function resolveDeprecated(env: NodeJS.ProcessEnv, deprecated: Record<string, string>) {
  const resolved = { ...env };
  const sources = new Map<string, string>();
  const warnings: string[] = [];
  for (const [oldName, name] of Object.entries(deprecated)) {
    const value = env[oldName];
    if (!isSet(value)) continue;
    if (isSet(env[name])) {
      warnings.push(`The variable ${oldName} is ignored, because ${name} is set`);
      continue;
    }
    resolved[name] = value;
    sources.set(name, oldName);
    warnings.push(`The variable ${oldName} is deprecated; use ${name}`);
  }
  return { env: resolved, sources, warnings };
}

type KnownNames = { current: string[]; deprecated: Record<string, string>; prefixes: string[] };

/**
 * One warning for each set variable that nothing reads but whose name resembles a known name, or begins with one of
 * `prefixes`. Never contains a value.
 */
export function unknownVariableWarnings(env: NodeJS.ProcessEnv, { current, deprecated, prefixes }: KnownNames) {
  const known = [...current, ...Object.keys(deprecated)];
  return Object.keys(env).flatMap((name) => {
    if (env[name] === '' || known.includes(name) || isServiceLink(name)) return [];
    const similar = similarName(name, known);
    const problem = `The variable ${name} is not known and has no effect`;
    if (similar !== undefined) return [`${problem}; did you mean ${deprecated[similar] ?? similar}?`];
    return prefixes.some((prefix) => name.toUpperCase().startsWith(prefix)) ? [problem] : [];
  });
}

function similarName(name: string, known: string[]) {
  const upper = name.toUpperCase();
  const nearest = known
    .map((other) => ({ other, distance: leven(upper, other, { maxDistance: 3 }) }))
    .sort((a, b) => a.distance - b.distance)[0]!;
  // Two edits change HOST into HOME.
  const maxDistance = nearest.other.length >= 8 ? 2 : nearest.other.length >= 6 ? 1 : 0;
  if (nearest.distance <= maxDistance) return nearest.other;
  return known.find((other) => other.includes('_') && upper.startsWith(`${other}_`));
}

const maxSecretBytes = 65_536;

/** The content of a secret's file without trailing line breaks. The error names the variable. */
export function readSecretFile(variable: string, file: string) {
  let text: string;
  try {
    if (statSync(file).size > maxSecretBytes) throw new Error('it is too long');
    text = readFileSync(file, 'utf8').replace(/[\r\n]+$/, '');
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    throw new Error(`The environment is not valid: ${variable} names a file that cannot be read (${code ?? message})`, {
      cause: error,
    });
  }
  if (text === '') throw new Error(`The environment is not valid: ${variable} names an empty file`);
  return text;
}
