import { removedVariables } from './removed-variables.ts';

/** Kubernetes sets these for every service of a namespace, so one may be named `database` or `smtp`. */
const isServiceLink = (name: string, value = '') =>
  /_SERVICE_(HOST|PORT)(_|$)|_PORT_\d+_(TCP|UDP)/.test(name) ||
  (name.endsWith('_PORT') && /^(tcp|udp|sctp):\/\//.test(value));

/** One warning for each removed variable that is set, and each unknown one that begins with one of `prefixes`. */
export const unknownVariableWarnings = (env: NodeJS.ProcessEnv, known: string[], prefixes: string[]) =>
  Object.keys(env).flatMap((name) => {
    if (env[name] === '' || known.includes(name) || isServiceLink(name, env[name])) return [];
    const advice = removedVariables[name];
    if (advice !== undefined) return [`The variable ${name} has no effect any more: ${advice}`];
    const hasPrefix = prefixes.some((prefix) => name.toUpperCase().startsWith(prefix));
    return hasPrefix ? [`The variable ${name} is not known and has no effect`] : [];
  });
