import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Linter, type ESLint } from 'eslint';
import { expect, test } from 'vitest';
import { addressPattern } from '../../src/core/text.ts';
import config from '../eslint.config.js';

type Rules = { plugins: Record<string, ESLint.Plugin>; rules: Linter.RulesRecord };
const { plugins, rules } = config.find((one) => one.plugins?.['regexp'] !== undefined) as Rules;
const findFaults = (pattern: string) =>
  new Linter()
    .verify(`const pattern = new RegExp(${JSON.stringify(pattern)}, 'u');`, [{ plugins, rules }])
    .map(({ ruleId }) => ruleId);

test('the rules find patterns that take quadratic time', () => {
  expect(findFaults('\\s+$')).toEqual(['regexp/no-super-linear-move']);
  expect(findFaults('^\\s*\\s*x$')).toEqual(['regexp/no-super-linear-backtracking']);
});

test('no pattern of a schema takes quadratic time', () => {
  const patterns = new Set<string>();
  JSON.parse(readFileSync('test/snapshots/openapi.json', 'utf8'), (name, value: unknown) => {
    if (name === 'pattern' && typeof value === 'string') patterns.add(value);
    return value;
  });
  expect([...patterns]).toContain(addressPattern);
  expect([...patterns].flatMap((pattern) => findFaults(pattern).map((fault) => [pattern, fault]))).toEqual([]);
});

const files = readdirSync('src', { recursive: true, encoding: 'utf8' }).filter((file) => /\.(tsx?|js)$/.test(file));
const filesWith = (pattern: RegExp) => files.filter((file) => pattern.test(readFileSync(join('src', file), 'utf8')));

test('no file switches the rules off', () => {
  expect(filesWith(/eslint-disable.*regexp/)).toEqual([]);
});

test('a pattern that the rules of the source cannot read is tested: that of addresses, a prefix of paths, and one of a schema', () => {
  expect(filesWith(/new RegExp\(|\bRegExp\(/).sort()).toEqual([
    ...['core/text.ts', 'domains/people/customers/fields.ts', 'http/errors/error-handler.ts'],
  ]);
  for (const pattern of [addressPattern, '^/catalog/[^/]+/x(/|$)']) expect(findFaults(pattern)).toEqual([]);
});
