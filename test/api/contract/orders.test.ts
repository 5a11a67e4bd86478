import { Ajv2020 } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import { expect, test } from 'vitest';
import * as documented from '../../support/documents/orders.ts';
import {
  createAttendance,
  createCampaign,
  createCourseDate,
  createCustomer,
  createGathering,
  createLocation,
  createOrder,
  createUser,
} from '../../support/orders.ts';
import { dereference } from '../../support/openapi.ts';
import { sharedTestApp } from '../../support/test-app.ts';

const { app, createProvider } = await sharedTestApp();

type Schema = { type?: string | string[]; properties?: Record<string, Schema>; required?: string[]; items?: Schema };
type Operation = { responses: Record<string, { content: Record<string, { schema: Schema }> }> };
type Path = { get: Operation; post: Operation };
const document = dereference<{ paths: Record<string, Path> }>(app.swagger());
const responseSchema = (path: string, method: keyof Path = 'get') =>
  document.paths[path]![method].responses['200']!.content['application/json']!.schema;
const itemOf = (path: string) => responseSchema(path).items!;

/** A JSON schema in the notation of the transcribed tables. */
function toTypes(schema: Schema): unknown {
  const types = [schema.type].flat();
  if (types.includes('array')) return [toTypes(schema.items!)];
  if (!types.includes('object')) return types.join('|');
  return Object.fromEntries(
    Object.entries(schema.properties ?? {}).map(([name, property]) => {
      const nullable = [property.type].flat().includes('null') && [property.type].flat().includes('object');
      return [nullable ? `${name}|null` : name, toTypes(property)];
    }),
  );
}
const itemTypes = (path: string) => toTypes(itemOf(path)) as Record<string, unknown>;
const optionalOf = ({ properties, required = [] }: Schema) =>
  Object.keys(properties!).filter((name) => !required.includes(name));

test('an order has the fields and types of the document', () => {
  const { 'customer|null': customer, 'campaign|null': campaign, lines, ...own } = itemTypes('/v2/orders');
  const [{ database_relations, ...line }] = lines as [Record<string, unknown>];
  const [{ course, participants, ...relation }] = database_relations as [Record<string, unknown>];
  expect({ ...own, lines: [{ ...line, database_relations: [relation] }] }).toMatchObject(documented.order);
  expect(campaign).toMatchObject(documented.embeddedCampaign);
  expect(customer).toBeTypeOf('object');
  expect(course).toMatchObject({ id: 'integer', title: 'string' });
  expect(course).not.toHaveProperty('products');
  expect(participants).toEqual(typesWithout('/v2/participants', ['attendance', 'attendance_summary']));
});

const typesWithout = (path: string, names: string[]) =>
  Object.fromEntries(
    Object.entries(itemTypes(path)).filter(([member]) => !names.includes(member.replace('|null', ''))),
  );

test('a participant has the fields and types of the document', () => {
  const { user, ...own } = itemTypes('/v2/participants');
  expect(own).toMatchObject({ ...documented.participant, ...documented.participantIncludes });
  expect(user).toMatchObject({ id: 'integer' });
});

test('a campaign has the fields and types of the document', () => {
  expect(itemTypes('/v2/campaigns')).toMatchObject(documented.campaign);
});

test('one order and one participant are the items of the lists', () => {
  expect(responseSchema('/v2/orders/{id}')).toEqual(itemOf('/v2/orders'));
  expect(responseSchema('/v2/orders/{id}/export', 'post')).toEqual(itemOf('/v2/orders'));
  expect(responseSchema('/v2/participants/{id}')).toEqual(itemOf('/v2/participants'));
});

test('a product of the list has the fields and types of the document', () => {
  expect(itemTypes('/v2/orders/products')).toMatchObject(documented.orderProduct);
  expect(optionalOf(itemOf('/v2/orders/products'))).toEqual([]);
});

test('every field is required except includes', () => {
  const order = itemOf('/v2/orders');
  const line = order.properties!['lines']!.items!;
  expect([order, line, line.properties!['database_relations']!.items!].map(optionalOf)).toEqual([
    ['campaign', 'credit', 'balance', 'invoicing'],
    [],
    ['course', 'participants'],
  ]);
  expect(optionalOf(itemOf('/v2/participants'))).toEqual(['attendance', 'attendance_summary', 'hold']);
  expect(optionalOf(itemOf('/v2/campaigns'))).toEqual([]);
});

test('responses with all includes match their schemas', async () => {
  const me = await createProvider();
  const courseId = await me.course({ tags: [{ title: 'a' }] });
  const dateId = await createCourseDate(me, courseId, { locationId: await createLocation(me), startTimeAt: '09:00' });
  const customerId = await createCustomer(me);
  const users = [await createUser(me, { customerId, dateOfBirth: '1990-05-17' })];
  const order = { customerId, campaignId: await createCampaign(me), exportedAt: '2026-05-01 00:00:00+02' };
  const participant = { certificateIssuedAt: '2026-07-03', customProperties: { a: 'b' } };
  const { participantIds } = await createOrder(me, { courseId, dateId, users, order, participant });
  await createAttendance(me, participantIds[0]!, await createGathering(me, dateId), { attended: true });

  const ajv = formats.default(new Ajv2020({ strict: false }));
  const include = 'include=lines.database_relations.course,lines.database_relations.participants,campaign,credit';
  for (const [path, query] of [
    ['/v2/orders', `exported=1&user_data=1&${include}`],
    ['/v2/participants', 'include=attendance,hold'],
    ['/v2/campaigns', ''],
  ] as const) {
    const items = (await me.get(`${path}?${query}`)).json<unknown[]>();
    expect(items).toHaveLength(1);
    expect(ajv.validate(itemOf(path), items[0]), JSON.stringify(ajv.errors)).toBe(true);
  }
});
