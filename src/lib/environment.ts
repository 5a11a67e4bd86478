import leven from 'leven';
import { readFileSync, statSync } from 'node:fs';

/** Kubernetes sets these for every service of a namespace; one named `database` or `smtp` is no mistake. */
const isServiceLink = (name: string) => /_SERVICE_(HOST|PORT)(_|$)|_PORT(_\d+_(TCP|UDP)|$)/.test(name);

/** One warning for each set variable that nothing reads but whose name resembles a known one. Never holds a value. */
export function warnOfUnknown(env: NodeJS.ProcessEnv, known: string[], prefixes: string[]) {
  return Object.keys(env).flatMap((name) => {
    if (env[name] === '' || known.includes(name) || isServiceLink(name)) return [];
    const upper = name.toUpperCase();
    const nearest = known
      .map((other) => ({ other, distance: leven(upper, other, { maxDistance: 3 }) }))
      .sort((a, b) => a.distance - b.distance)[0]!;
    // Two edits turn HOST into HOME.
    const most = nearest.other.length >= 8 ? 2 : nearest.other.length >= 6 ? 1 : 0;
    const longer = known.find((other) => other.includes('_') && upper.startsWith(`${other}_`));
    const meant = nearest.distance <= most ? nearest.other : longer;
    if (meant !== undefined) return [`The variable ${name} is not known and has no effect; did you mean ${meant}?`];
    return prefixes.some((prefix) => upper.startsWith(prefix))
      ? [`The variable ${name} is not known and has no effect`]
      : [];
  });
}

const maxSecretBytes = 65_536;

/** The text of a secret's file without its last line end. Throws a sentence that names the variable. */
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
