import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';
import { expect, test } from 'vitest';

const root = join(import.meta.dirname, '../..');
const list = (folder: string) =>
  readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((file) => /\.tsx?$/.test(file))
    .map((file) => join(folder, file));
const read = (file: string) => readFileSync(join(root, file), 'utf8');
const sources = new Map(list('src').map((file) => [file, read(file)]));

/** The value of a literal text or pattern; undefined for an expression. */
function toLiteral(node: ts.Node | undefined): string | RegExp | undefined {
  if (node === undefined) return undefined;
  if (ts.isStringLiteralLike(node)) return node.text;
  if (!ts.isRegularExpressionLiteral(node)) return undefined;
  const [, pattern, flags] = /^\/(.*)\/(\w*)$/s.exec(node.text)!;
  return new RegExp(pattern!, flags);
}

/** The calls of `replaceIn` with literal arguments: the file that is changed, and the text that is replaced. */
function findReplacements(file: string, text: string) {
  const found: { call: string; filter: RegExp; from: string | RegExp }[] = [];
  if (!text.includes('replaceIn(')) return found;
  const visit = (node: ts.Node) => {
    if (ts.isCallExpression(node) && node.expression.getText() === 'replaceIn') {
      const [name, filter, from] = node.arguments.map(toLiteral);
      if (filter instanceof RegExp && from !== undefined)
        found.push({ call: `${file}: ${String(name)}`, filter, from });
    }
    ts.forEachChild(node, visit);
  };
  visit(ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true));
  return found;
}

const isFound = ({ filter, from }: { filter: RegExp; from: string | RegExp }) =>
  [...sources].some(
    ([file, text]) => filter.test(`/${file}`) && (typeof from === 'string' ? text.includes(from) : from.test(text)),
  );

test('each text that a control replaces is in the source', () => {
  const replacements = list('test').flatMap((file) => findReplacements(file, read(file)));
  expect(replacements.length).toBeGreaterThan(30);
  expect(replacements.filter((one) => !isFound(one)).map(({ call }) => call)).toEqual([]);
});

test('a text that the source has not is found', () => {
  const call = `replaceIn('control', /src\\/app\\.ts$/, 'no such text', '')`;
  expect(findReplacements('control.ts', call).map(isFound)).toEqual([false]);
});
