import leven from 'leven';

/** Kubernetes sets these for every service of a namespace, so one may be named `database` or `smtp`. */
const isServiceLink = (name: string, value = '') =>
  /_SERVICE_(HOST|PORT)(_|$)|_PORT_\d+_(TCP|UDP)/.test(name) ||
  (name.endsWith('_PORT') && /^(tcp|udp|sctp):\/\//.test(value));

/** Endings of names that an operator expects to have an effect. */
const endings = ['_LIMIT', '_PORT'];

/**
 * One warning for each set variable that nothing reads but whose name resembles a known name, or begins with one of
 * `prefixes`. Never contains a value.
 */
export function unknownVariableWarnings(env: NodeJS.ProcessEnv, known: string[], prefixes: string[]) {
  return Object.keys(env).flatMap((name) => {
    if (env[name] === '' || known.includes(name) || isServiceLink(name, env[name])) return [];
    const similar = similarName(name, known);
    const problem = `The variable ${name} is not known and has no effect`;
    if (similar !== undefined) return [`${problem}; did you mean ${similar}?`];
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
  const beginning = beginnings(known).find((other) => leven(upper, other, { maxDistance: 2 }) <= 1);
  if (beginning !== undefined) return known.find((other) => other.startsWith(`${beginning}_`));
  const longer = known.find((other) => other.includes('_') && upper.startsWith(`${other}_`));
  return longer ?? similarByEnding(upper, known);
}

/** Beginnings of known names, in whole words: RATE_LIMIT of RATE_LIMIT_PER_SECOND. */
const beginnings = (known: string[]) =>
  known.flatMap((name) => {
    const words = name.split('_');
    return words.slice(2).map((_, n) => words.slice(0, n + 2).join('_'));
  });

/** Of the known names that contain the ending, the nearest. */
function similarByEnding(name: string, known: string[]) {
  const ending = endings.find((one) => name.endsWith(one));
  if (ending === undefined) return undefined;
  const candidates = known.filter((other) => `_${other}_`.includes(`${ending}_`));
  return (
    candidates.find((other) => other.startsWith(`${name}_`)) ??
    candidates.sort((a, b) => leven(name, a) - leven(name, b))[0]
  );
}
