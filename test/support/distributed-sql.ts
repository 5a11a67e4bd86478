/** Names of functions, by whether a distributed database allows them where it must know the value in advance. */
export type Functions = { volatile: Set<string>; notImmutable: Set<string> };

/** A statement or the body of a function, with a name for the report. */
export type NamedSql = { name: string; text: string };

/** The query that reads `Functions`. Syntax such as `now()` and `current_timestamp` is in the catalog as well. */
export const functionsQuery = `select proname as name, bool_or(provolatile = 'v') as "isVolatile"
  from pg_proc where provolatile <> 'i' and pronamespace in ('pg_catalog'::regnamespace, 'public'::regnamespace)
  group by 1`;

/** Words, parameters, numbers and punctuation, in lower case; without comments and strings. */
const tokenize = (text: string) =>
  text
    .replaceAll(/--.*$/gm, ' ')
    .replaceAll(/'(?:[^']|'')*'/g, ' text ')
    .toLowerCase()
    .match(/"[^"]+"|\$\d+|[a-z_][a-z0-9_.]*|\d+|::|:=|[^\s]/g) ?? [];

/** The index after the part that begins at `start`: a closing parenthesis, a semicolon or one of the words ends it. */
function endOf(tokens: string[], start: number, words: string[] = []) {
  let depth = 0;
  for (let at = start; at < tokens.length; at += 1) {
    const token = tokens[at]!;
    if (token === '(') depth += 1;
    if (token === ')' && (depth -= 1) < 0) return at;
    if (depth === 0 && (token === ';' || words.includes(token))) return at;
  }
  return tokens.length;
}

/** The index of the parenthesis that encloses the token, or of the statement's first token. */
function startOf(tokens: string[], end: number) {
  let depth = 0;
  for (let at = end - 1; at >= 0; at -= 1) {
    if (tokens[at] === ')') depth += 1;
    if (tokens[at] === '(' && (depth -= 1) < 0) return at + 1;
    if (depth === 0 && tokens[at] === ';') return at + 1;
  }
  return 0;
}

const bare = (token: string) => token.replaceAll('"', '').split('.').at(-1)!;
const called = (tokens: string[], names: Set<string>) =>
  tokens.filter((token, at) => tokens[at + 1] === '(' && names.has(bare(token))).map(bare);
/** A text of a moment depends on the session's time zone. */
const momentTexts = (tokens: string[]) =>
  tokens.filter((token, at) => /_at"?$/.test(token) && tokens[at + 1] === '::' && tokens[at + 2] === 'text').map(bare);

/** The parts of `case … end` and `coalesce(…)`. */
const conditionals = (tokens: string[]) =>
  tokens.flatMap((token, at) => {
    if (token === 'case') return tokens.slice(at, tokens.indexOf('end', at));
    return token === 'coalesce' ? tokens.slice(at, endOf(tokens, at + 2)) : [];
  });

/** The reasons why a database that is distributed by provider refuses this SQL; empty if there is none. */
export function findRefused(
  text: string,
  { volatile, notImmutable }: Functions,
  { localTables, referenceTables }: { localTables: string[]; referenceTables: string[] },
) {
  const tokens = tokenize(text);
  const found: string[] = [];
  const report = (what: string, names: string[]) => names.forEach((name) => found.push(`${what}: ${name}`));

  tokens.forEach((token, at) => {
    const [before = '', next = ''] = [tokens[at - 1], tokens[at + 1]];
    const isUpdate =
      token === 'update' && /^[a-z"]/.test(next) && !['for', 'key', 'do', 'or', 'after'].includes(before);
    const isDelete = token === 'delete' && next === 'from';
    const isInsert = token === 'insert' && next === 'into';
    if (isUpdate || isDelete || isInsert) {
      const statement = tokens.slice(at, endOf(tokens, at));
      const table = bare(statement[isUpdate ? 1 : 2]!);
      if (localTables.includes(table)) return;
      const returning = statement.slice(endOf(statement, 0, ['returning']));
      report(`returning of ${token} ${table}`, [...called(returning, notImmutable), ...momentTexts(returning)]);
      if (isInsert) {
        const conflict = statement.slice(endOf(statement, 0, ['conflict']), endOf(statement, 0, ['returning']));
        report(`conflict of ${table}`, called(conflict, notImmutable));
      } else {
        const body = statement.slice(0, endOf(statement, 0, ['returning']));
        report(`${token} ${table}`, called(body, volatile));
        const condition = body.slice(endOf(body, 0, ['where'])).map(bare);
        if (!referenceTables.includes(table) && !condition.includes('provider_id'))
          found.push(`${token} ${table}: of no provider`);
        if (isUpdate) report(`case or coalesce in ${token} ${table}`, called(conditionals(body), notImmutable));
      }
    }
    const strength = tokens.slice(at + 1, at + 4).join(' ');
    if (token === 'for' && /^(no key update|update|key share|share)\b/.test(strength)) {
      const query = tokens.slice(startOf(tokens, at), at);
      if (referenceTables.includes(bare(query[query.indexOf('from') + 1] ?? ''))) return;
      const isOfOne = query.some(
        (one, n) =>
          bare(one) === 'provider_id' &&
          query[n + 1] === '=' &&
          /^(\$|[a-z])/.test(query[n + 2]!) &&
          !['any', 'all'].includes(query[n + 2]!),
      );
      if (!isOfOne) found.push(`locks rows of several providers: for ${strength}`);
    }
  });
  return [...new Set(found)];
}
