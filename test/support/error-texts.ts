import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';
import { Problem, type ProblemKind } from '../../src/core/errors.ts';

/** A text as a list of regular expressions: one for each literal character, `.+` for an inserted value. */
type Pattern = string[];
export type ErrorText = { status: number | undefined; pattern: Pattern };

const anything = '.+';
const src = join(import.meta.dirname, '../../src');
/** Sources of the endpoints under test; pages are excluded, since their texts are their own. */
const reachable = /^(app\.ts|(core|database|http(?!\/openapi)|interfaces|lists|domains|plugins\/delivery\/webhooks)\/)/;
/** Sources of commands alone. */
const ofCommands = /^(interfaces\/cli\/|database\/store\.ts|domains\/people\/users\/invitation-service\.ts)/;

const parse = (file: string) =>
  ts.createSourceFile(file, readFileSync(join(src, file), 'utf8'), ts.ScriptTarget.Latest, true);

const visit = (node: ts.Node, see: (node: ts.Node) => void) => {
  see(node);
  node.forEachChild((child) => visit(child, see));
};

type Initializers = Map<string, ts.Expression[]>;

/** Initializers of the variables of a file, by name; functions may use a name twice. */
function findInitializers(source: ts.SourceFile) {
  const initializers: Initializers = new Map();
  visit(source, (node) => {
    if (!ts.isVariableDeclaration(node) || !ts.isIdentifier(node.name) || !node.initializer) return;
    const name = node.name.text;
    initializers.set(name, [...(initializers.get(name) ?? []), node.initializer]);
  });
  return initializers;
}

/** All texts that an expression can have. */
function toPatterns(node: ts.Expression, initializers: Initializers): Pattern[] {
  const patternsOf = (one: ts.Expression) => toPatterns(one, initializers);
  const combine = (before: Pattern[], after: Pattern[]) =>
    before.flatMap((one) => after.map((other) => [...one, ...other]));
  if (ts.isStringLiteralLike(node)) return [literal(node.text)];
  if (ts.isTemplateExpression(node)) {
    return node.templateSpans.reduce(
      (patterns, { expression, literal: { text } }) =>
        combine(combine(patterns, patternsOf(expression)), [literal(text)]),
      [literal(node.head.text)],
    );
  }
  if (ts.isParenthesizedExpression(node)) return patternsOf(node.expression);
  if (ts.isConditionalExpression(node)) return [...patternsOf(node.whenTrue), ...patternsOf(node.whenFalse)];
  if (ts.isBinaryExpression(node)) {
    const sides = [patternsOf(node.left), patternsOf(node.right)] as const;
    return node.operatorToken.kind === ts.SyntaxKind.PlusToken ? combine(...sides) : sides.flat();
  }
  const name = ts.isElementAccessExpression(node) ? node.expression.getText() : node.getText();
  const found = initializers.get(name) ?? [];
  const values = found.flatMap((one) => (ts.isObjectLiteralExpression(one) ? one.properties.map(valueOf) : [one]));
  if (values.length === 0 || !(ts.isIdentifier(node) || ts.isElementAccessExpression(node))) return [[anything]];
  return values.flatMap((one) => (one ? patternsOf(one) : []));
}

const valueOf = (property: ts.ObjectLiteralElementLike) =>
  ts.isPropertyAssignment(property) ? property.initializer : undefined;
const literal = (text: string) => Array.from(text, (character) => character.replace(/[\\^$.*+?()[\]{}|/]/, '\\$&'));

/** The value of a member of an object, also of one that is spread in it. */
function findMember(object: ts.Expression, name: string) {
  const found: ts.Expression[] = [];
  visit(object, (node) => {
    if (ts.isPropertyAssignment(node) && node.name.getText() === name) found.push(node.initializer);
  });
  return found[0]!;
}

/** True for `new Problem(kind, text)`, and for `super(kind, text)` of a class that extends it. */
function isProblem(node: ts.Node): node is ts.NewExpression | ts.CallExpression {
  if (ts.isNewExpression(node)) return node.expression.getText() === 'Problem';
  if (!ts.isCallExpression(node) || node.expression.kind !== ts.SyntaxKind.SuperKeyword) return false;
  const [kind, text] = node.arguments;
  return kind !== undefined && ts.isStringLiteral(kind) && text !== undefined;
}

/** The text of a `Problem` that is made or asserted, its status, and what follows the text. */
function readError(node: ts.Node) {
  if (isProblem(node)) {
    const [kind, text] = node.arguments ?? [];
    const status = kind && ts.isStringLiteral(kind) ? new Problem(kind.text as ProblemKind, '').status : undefined;
    return text && { text, status, ending: '' };
  }
  if (!ts.isCallExpression(node)) return undefined;
  const [text, item] = node.arguments;
  if (text && node.expression.getText() === 'itemOperations')
    return { text: findMember(text, 'item'), status: 404, ending: ' not found' };
  if (item && node.expression.getText() === 'Problem.assertFound')
    return { text: item, status: 404, ending: ' not found' };
  if (item && node.expression.getText() === 'Problem.coded') return { text: item, status: 400, ending: '' };
  if (text && node.expression.getText() === 'Problem.notFound') return { text, status: 404, ending: ' not found' };
  return text && node.expression.getText() === 'Problem.unavailable' ? { text, status: 503, ending: '' } : undefined;
}

/** Every error text that the source can send, and the expressions of texts that begin with another text. */
export function readErrorTexts() {
  const texts: ErrorText[] = [];
  const composed: string[] = [];
  const files = readdirSync(src, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.ts'));
  for (const file of files.filter((one) => reachable.test(one) && !ofCommands.test(one)).sort()) {
    const source = parse(file);
    const initializers = findInitializers(source);
    visit(source, (node) => {
      const error = readError(node);
      if (!error) return;
      for (const pattern of toPatterns(error.text, initializers)) {
        if (pattern[0] === anything) composed.push(`${file}: ${error.text.getText()}`);
        else texts.push({ status: error.status, pattern: [...pattern, ...literal(error.ending)] });
      }
    });
  }
  return { texts, composed };
}

/** Entries of an object of strings that a file declares. */
export function readEntries(file: string, name: string): [key: string, text: string][] {
  let initializer = findInitializers(parse(file)).get(name)![0]!;
  while (ts.isAsExpression(initializer) || ts.isSatisfiesExpression(initializer)) initializer = initializer.expression;
  return (initializer as ts.ObjectLiteralExpression).properties.flatMap((one) =>
    ts.isPropertyAssignment(one) && ts.isStringLiteralLike(one.initializer)
      ? [[one.name.getText(), one.initializer.text] as [string, string]]
      : [],
  );
}

/** Names of the texts that a file reads: of `texts.name` and of `const { name } = view.texts`. */
function readTextNames(source: ts.SourceFile) {
  const names: string[] = [];
  const isTexts = (node: ts.Node | undefined) => node !== undefined && /(^|\.)texts$/.test(node.getText());
  visit(source, (node) => {
    if (ts.isPropertyAccessExpression(node) && isTexts(node.expression)) names.push(node.name.text);
    if (ts.isVariableDeclaration(node) && ts.isObjectBindingPattern(node.name) && isTexts(node.initializer))
      names.push(...node.name.elements.map(({ propertyName, name }) => (propertyName ?? name).getText()));
  });
  return names;
}

/** Every text that the routes of the personal pages choose, in English, with its name; their views choose the others. */
export function readPageTexts() {
  const files = readdirSync(join(src, 'plugins/pages/my')).filter((file) => /\.tsx?$/.test(file));
  const names = ['send-page.tsx', ...files.map((file) => `my/${file}`)].flatMap((file) =>
    readTextNames(parse(`plugins/pages/${file}`)),
  );
  const english = JSON.parse(readFileSync(join(src, 'plugins/pages/texts/en.json'), 'utf8')) as Record<
    string,
    string | Record<string, string>
  >;
  return Object.entries(english).flatMap(([name, text]) => {
    const all = typeof text === 'string' ? [text] : Object.values(text);
    return names.includes(name) ? all.map((one) => ({ name, pattern: fromPlaceholders(one) })) : [];
  });
}

const fromPlaceholders = (text: string): Pattern =>
  text.split('{}').flatMap((part, n) => [...(n === 0 ? [] : [anything]), ...literal(part)]);

/** True if the whole text has the pattern. */
export const hasPattern = (text: string, pattern: Pattern) => new RegExp(`^${pattern.join('')}$`).test(text);

/** Formats a pattern for messages of a failed test. */
export const toText = (pattern: Pattern) =>
  pattern.map((one) => (one === anything ? '…' : one.replace(/^\\/, ''))).join('');
