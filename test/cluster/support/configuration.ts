import { readFileSync } from 'node:fs';

const page = 'docs/operate/run-a-cluster.md';

/** A file of the page without its first line, which is a comment with its path. */
export function documentedFile(path: string) {
  const blocks = [...readFileSync(page, 'utf8').matchAll(/```(?:text|yaml|sql)\n(?:#|--) (.*)\n([^]*?)```/g)];
  const found = blocks.filter(([, name]) => name === path);
  if (found.length !== 1) throw new Error(`${page} has ${found.length} files ${path}`);
  return found[0]![2]!;
}

/** Replaces addresses and folders of the page, longest first; none may be left. */
export function adapt(text: string, replacements: Record<string, string | number>) {
  const names = Object.keys(replacements).toSorted((a, b) => b.length - a.length);
  const pattern = new RegExp(names.map((name) => name.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')).join('|'), 'g');
  const adapted = text.replace(pattern, (name) => String(replacements[name]));
  const left = /\b(db|app)\d:|0\.0\.0\.0|\/(etc|var)\/.*/.exec(adapted);
  if (left) throw new Error(`${page}: ${left[0]} is not replaced`);
  return adapted;
}

/** Statements of an SQL file. */
export const statementsOf = (text: string) =>
  text
    .split(';')
    .map((statement) => statement.trim())
    .filter(Boolean);

/** Variables of an environment file. */
export const variablesOf = (text: string): Record<string, string> =>
  Object.fromEntries(
    text
      .trim()
      .split('\n')
      .map((line) => [line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1)]),
  );
