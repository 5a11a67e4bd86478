import { Type } from '@sinclair/typebox';
import { expect, test } from 'vitest';
import { findUnknownFields, maxNameLength } from '../../src/http/parsing/known-fields.ts';

test('names of unknown fields are bounded, also of members with a long path', () => {
  const texts = Type.Object({}, { additionalProperties: Type.Object({ title: Type.String() }) });
  const schema = Type.Object({ texts });
  const members = (name: string) => ({ texts: { [name]: { title: '', a: 1, b: 2 } } });
  expect([...findUnknownFields(schema, members('en'), [])]).toEqual([
    ['texts.en.a', 1],
    ['texts.en.b', 2],
  ]);
  for (const body of [members('x'.repeat(40_000)), { ['x'.repeat(40_000)]: 1 }]) {
    const names = [...findUnknownFields(schema, body, [])];
    expect(names.length).toBeGreaterThan(0);
    for (const [name] of names) expect(name).toHaveLength(maxNameLength + 1);
  }
});
