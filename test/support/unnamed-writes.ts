import { sharedTables } from './tables.ts';

/** A statement or the body of a function, with a name for the report. */
export type NamedSql = { name: string; text: string };

/** Words, parameters, numbers and punctuation, in lower case; without comments and strings. */
const tokenize = (text: string) =>
  text
    .replaceAll(/--.*$/gm, ' ')
    .replaceAll(/'(?:[^']|'')*'/g, ' text ')
    .toLowerCase()
    .match(/"[^"]+"|\$\d+|[a-z_][a-z0-9_.]*|\d+|::|:=|[^\s]/g) ?? [];

/** The index after the part that begins at `start`: a closing parenthesis, a semicolon or the word ends it. */
function endOf(tokens: string[], start: number, word?: string) {
  let depth = 0;
  for (let at = start; at < tokens.length; at += 1) {
    const token = tokens[at]!;
    if (token === '(') depth += 1;
    if (token === ')' && (depth -= 1) < 0) return at;
    if (depth === 0 && (token === ';' || token === word)) return at;
  }
  return tokens.length;
}

const bare = (token: string) => token.replaceAll('"', '').split('.').at(-1)!;

/** The updates and deletions of a provider's table whose condition does not contain `provider_id`. */
export function findUnnamedWrites(text: string): string[] {
  const tokens = tokenize(text);
  return tokens.flatMap((token, at) => {
    const [before = '', next = ''] = [tokens[at - 1], tokens[at + 1]];
    const isUpdate =
      token === 'update' && /^[a-z"]/.test(next) && !['for', 'key', 'do', 'or', 'after'].includes(before);
    const isDelete = token === 'delete' && next === 'from';
    if (!isUpdate && !isDelete) return [];
    const statement = tokens.slice(at, endOf(tokens, at));
    const table = bare(statement[isUpdate ? 1 : 2]!);
    const body = statement.slice(0, endOf(statement, 0, 'returning'));
    const condition = body.slice(endOf(body, 0, 'where')).map(bare);
    return sharedTables.includes(table) || condition.includes('provider_id') ? [] : [`${token} ${table}`];
  });
}
