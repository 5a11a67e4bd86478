import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { Type, type TSchema } from '@sinclair/typebox';
import { expect, test } from 'vitest';
import { hideClosedMembers } from '../../src/lists/closed-members.ts';
import { isPersonal } from '../../src/http/idempotency.ts';
import { toPublicSchema } from '../../src/http/publishable/serializer.ts';
import { findName, t } from '../../src/core/schema/types.ts';
import { personalResources } from '../../src/domains/records/changes/schema.ts';
import { findUndeclared } from '../support/member-access.ts';

const resources = join(import.meta.dirname, '../../src/domains');
const files = readdirSync(resources, { recursive: true, encoding: 'utf8' }).filter(
  (file) => /(^|[/-])(fields|schema|serializer|list)\.ts$/.test(file) && !file.endsWith('body-schema.ts'),
);

/** The response schemas that a module exports, as such, or in a serializer or list. */
function responseSchemas(exported: unknown): TSchema[] {
  if (typeof exported !== 'object' || exported === null) return [];
  const { schema, View } = exported as { schema?: TSchema; View?: TSchema };
  return [exported as TSchema, schema, View].filter((one) => one?.['type'] === 'object') as TSchema[];
}

test('each member of a response says who sees it and the kind of its data', async () => {
  const found: string[] = [];
  const seen = new Set<string>();
  for (const file of files) {
    const module = (await import(join(resources, file))) as Record<string, unknown>;
    for (const [name, exported] of Object.entries(module).filter(
      ([name]) => !/(Query|Body|Change|Input|Field)$/.test(name),
    ))
      for (const schema of responseSchemas(exported)) {
        seen.add(findName(schema) ?? name);
        found.push(...findUndeclared(schema, `${file} ${name}`));
      }
  }
  expect(found).toEqual([]);
  expect([...seen]).toEqual(expect.arrayContaining(['Course', 'CourseDate', 'Customer', 'Order', 'Participant']));
});

test.each([
  ['a union', (member: TSchema) => Type.Union([Type.Null(), Type.Object({ member })])],
  [
    'an intersection',
    (member: TSchema) => Type.Intersect([Type.Object({ id: Type.Integer() }), Type.Object({ member })]),
  ],
  ['one of', (member: TSchema) => Type.Unsafe({ oneOf: [Type.Object({ member })] })],
  ['a record', (member: TSchema) => Type.Record(Type.String(), Type.Object({ member }))],
  ['additional properties', (member: TSchema) => Type.Object({}, { additionalProperties: Type.Object({ member }) })],
  ['a list of lists', (member: TSchema) => Type.Array(Type.Array(Type.Object({ member })))],
])('a personal member is found in %s', (_name, toSchema) => {
  expect(isPersonal(toSchema(t.member.personal(Type.String())))).toBe(true);
  expect(isPersonal(toSchema(t.member.closed(Type.String())))).toBe(false);
});

test('the resources with personal data follow from the members of their items', () => {
  expect(personalResources.toSorted()).toEqual([
    'courseuser',
    'customer',
    'instructor',
    'offer',
    'order',
    'participant',
    'payment',
  ]);
});

const Nested = Type.Object({
  shown: t.member.open(Type.String()),
  hidden: t.member.closed(Type.String()),
  plain: Type.String(),
});
const Item = Type.Object({
  open: t.member.open(Type.String()),
  shared: t.member.shared(Type.Integer()),
  closed: t.member.closed(t.Nullable(Type.String())),
  personal: t.member.personal(Type.Array(Type.String())),
  nested: t.member.open(Nested),
  hiddenObject: t.member.closed(Nested),
  plain: Type.Boolean(),
});
const values = { shown: 'a', hidden: 'b', plain: 'c' };
const item = {
  ...{ open: 'a', shared: 1, closed: 'b', personal: ['c'], nested: values, hiddenObject: values, plain: true },
};

test('members without a declaration are found, at any depth', () => {
  expect(findUndeclared(Item, 'Item')).toEqual(['Item.nested.plain', 'Item.hiddenObject.plain', 'Item.plain']);
});

test("partners do not see another school's members that are not open to them", () => {
  const hide = hideClosedMembers(Item);
  expect(hide({ ...item }, { providerId: 1 }, { providerId: 1 })).toEqual(item);
  expect(hide({ ...item }, { providerId: 2 }, { providerId: 1 })).toEqual({
    ...{ open: 'a', shared: 1, closed: null, personal: [], nested: values, plain: false },
    hiddenObject: { shown: '', hidden: '', plain: '' },
  });
});

test('the schema for publishable keys has open members alone', () => {
  const schema = toPublicSchema(Item, 'Item');
  expect(Object.keys(schema.properties!)).toEqual(['open', 'nested']);
  expect(Object.keys(schema.properties!['nested']!.properties!)).toEqual(['shown']);
  expect([schema.required, schema.properties!['nested']!.required]).toEqual([['open', 'nested'], ['shown']]);
  const Closed = Type.Object({ one: t.member.closed(Type.String()) });
  expect(() => toPublicSchema(Closed, 'Closed')).toThrow('No member of Closed is open to publishable keys');
});
