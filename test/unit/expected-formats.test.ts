import type { TSchema } from '@sinclair/typebox';
import { expect, test } from 'vitest';
import { describeExpected } from '../../src/plugins/transfer/expected-formats.ts';
import { lineSchema } from '../../src/plugins/transfer/record-type.ts';
import { recordTypes } from '../../src/plugins/transfer/record-types/index.ts';

/** Paths of all fields, those of nested objects included. */
function pathsOf(schema: TSchema, path: string[] = []): string[][] {
  const inner = (schema['items'] ?? schema['additionalProperties'] ?? schema) as TSchema;
  const properties = Object.entries((inner['properties'] ?? {}) as Record<string, TSchema>);
  return properties.flatMap(([name, property]) => [[...path, name], ...pathsOf(property, [...path, name])]);
}

test('no field is described by a regular expression', () => {
  const descriptions = recordTypes.flatMap((kind) => {
    const schema = lineSchema(kind);
    return pathsOf(schema).map((path) => describeExpected(schema, [path.join('.')]));
  });
  expect(descriptions.length).toBeGreaterThan(250);
  expect(descriptions.filter((text) => text === undefined || /[\\^$]|text that matches/.test(text))).toEqual([]);
});

test('a password hash is described by its kind', () => {
  const schema = lineSchema(recordTypes.find(({ kind }) => kind === 'user')!);
  expect(describeExpected(schema, ['password_hash'])).toBe('password_hash: an argon2id hash');
});
