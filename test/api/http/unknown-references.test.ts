import { expect, test } from 'vitest';
import { labels } from '../../../src/database/tables/catalog.ts';
import { roles } from '../../../src/database/tables/people.ts';
import { bookingBody, createBookableDate, errorCodes, person } from '../../support/booking.ts';
import { addDate, addInstructor } from '../../support/dates.ts';
import { dereference } from '../../support/openapi.ts';
import { createCustomer, createPlace, write } from '../../support/orders.ts';
import { listOfKind } from '../../support/isolation.ts';
import { referenceFields as shared } from '../../support/isolation-table.ts';
import { createIds } from '../../support/path-items.ts';
import {
  dialects,
  endpointUrl,
  fieldErrors,
  findWriteEndpoint,
  hasId,
  sendWrite,
} from '../../support/request-bodies.ts';
import { sharedTestApp, type Provider } from '../../support/test-app.ts';

const testApp = await sharedTestApp();
const { app, createProvider, database } = testApp;
type Fields = Record<string, unknown>;

type Schema = Fields & { properties?: Record<string, Schema>; pattern?: string };
type Operation = { requestBody?: { content: Record<string, { schema: Schema }> } };
const { paths } = dereference<{ paths: Record<string, Record<string, Operation>> }>(
  (await app.inject('/openapi.json')).json(),
);

/** The fields with ids of each operation that writes. */
const referenceFields = new Map(
  Object.entries(paths).flatMap(([path, operations]) =>
    (['post', 'put'] as const).flatMap((method) => {
      const [content] = Object.values(operations[method]?.requestBody?.content ?? {});
      const names = Object.entries(content?.schema.properties ?? {}).flatMap(([name, schema]) =>
        hasId(schema) ? name : [],
      );
      return names.length > 0
        ? [[`${method.toUpperCase()} ${path.replaceAll(/\{\w+\}/g, ':id')}`, names] as const]
        : [];
    }),
  ),
);

const titled = async (me: Provider, table: typeof labels | typeof roles) =>
  write(me, async (tx, now) => {
    const row = { providerId: me.id, title: 'Titled', createdAt: now, updatedAt: now };
    return (await tx.insert(table).values(row).returning({ id: table.id }))[0]!.id;
  });

const date = { date: '2030-06-10', time_start: '09:00', time_end: '10:00' };
const toValue = (field: string, id: number) => {
  if (field === 'gatherings') return [{ ...date, instructors: [id] }];
  return field === 'participants' ? [id] : (shared[field]?.[1] ?? Number)(id);
};
/** Creates a row of a provider that the field refers to, of fields whose row is no item of a list, or is below the URL. */
const creators: Record<string, (me: Provider, url: string) => Promise<number>> = {
  labels: (me) => titled(me, labels),
  // Places belong to no provider.
  place_id: () => createPlace(testApp),
  gatherings: (me) => addInstructor(me),
  parent_id: (me, url) => addDate(me, Number(/courses\/(\d+)/.exec(url)![1])),
  role_ids: (me) => titled(me, roles),
  participants: findParticipant,
};
async function createRow(me: Provider, field: string, url: string) {
  const create = creators[field];
  if (create) return create(me, url);
  const kind = shared[field]?.[0];
  if (!kind) throw new Error(`name the row of ${field} in referenceFields of test/support/isolation-table.ts`);
  return (await createIds(me, `${listOfKind(kind)}/{id}`))['id']!;
}

async function findParticipant(me: Provider, url: string) {
  const bookingId = /booking\/(\d+)/.exec(url)![1];
  const sql = 'select id from participants where provider_id = $1 and booking_id = $2';
  return (await database.pool.query<{ id: number }>(sql, [me.id, bookingId])).rows[0]!.id;
}

/** A field without a reference that the schema refuses. */
function faultOf(name: string): Fields {
  if (name.endsWith('/deregister')) return { config: { with_fee: 'x' } };
  const [method = '', path = ''] = name.split(' ');
  const operation = Object.entries(paths).find(([one]) => one.replaceAll(/\{\w+\}/g, ':id') === path)![1];
  const [content] = Object.values(operation[method.toLowerCase()]!.requestBody!.content);
  const refusesText = ({ type, pattern }: Schema) =>
    [type].flat().some((one) => one === 'integer' || one === 'number') ||
    (pattern !== undefined && !new RegExp(pattern, 'u').test('x'));
  const found = Object.entries(content!.schema.properties!).find(([, one]) => refusesText(one) && !hasId(one));
  return found ? { [found[0]]: 'x' } : {};
}
const unknownId = 999_999_999;

const operations = [...referenceFields].filter(
  ([name]) => !/booking$|\/(merge|move|credit|attendance|cancel|participants\/:id)$/.test(name),
);
const cases = operations.flatMap(([name, fields]) => fields.map((field) => [name, field] as const));

test.each(cases)('%s names %s with another invalid field if it is unknown', async (name, field) => {
  const me = await createProvider();
  const endpoint = findWriteEndpoint(name)!;
  const url = await endpointUrl(me, endpoint);
  const fault = faultOf(name);
  const other = await createProvider();
  const foreignId = await createRow(other, field, await endpointUrl(other, endpoint));
  const ids = { unknown: unknownId, ...(field !== 'place_id' && { foreign: foreignId }) };
  const ownId = await createRow(me, field, url);
  const invalid = async (dialect: (typeof dialects)[number], id: number) => {
    const response = await sendWrite(me, endpoint, dialect, { ...fault, [field]: toValue(field, id) });
    expect(response.status).toBe(400);
    return fieldErrors(response).notValid.sort();
  };
  for (const dialect of dialects) {
    for (const [kind, id] of Object.entries(ids))
      expect(await invalid(dialect, id), `${kind}, ${dialect}`).toEqual([...Object.keys(fault), field].sort());
    expect(await invalid(dialect, ownId), `own, ${dialect}`).toEqual(Object.keys(fault));
  }
});

test.each(operations)('%s names all of %j in one answer, in the order of the schema', async (name, fields) => {
  const me = await createProvider();
  const endpoint = findWriteEndpoint(name)!;
  const body = Object.fromEntries(fields.map((field) => [field, toValue(field, unknownId)]));
  const type = name.endsWith('courses') || name.endsWith('courses/:id') ? { type: 'corporate' } : {};
  const response = await sendWrite(me, endpoint, 'json', { ...endpoint.minimal, ...type, ...body });
  expect([response.status, fieldErrors(response)]).toEqual([400, { missing: [], notValid: fields }]);
});

test('an invalid value of a field with a reference is named once', async () => {
  const me = await createProvider();
  const fields = { title: 'A', price_value: 'x', tags: [{ id: unknownId }, {}], customer_id: 'x' };
  expect((await me.post('/v2/courses', fields)).json()).toEqual({
    error: 'Missing field(s): tags[1].title. Field(s) not valid: price_value,customer_id',
  });
  const person = { email: 'x', role_ids: [unknownId, 'y'] };
  expect((await me.post('/v2/admin-users', person)).json()).toEqual({
    errors: { missing_fields: [], not_valid: ['email', 'role_ids'] },
  });
});

test('a booking names unknown references with other errors', async () => {
  const me = await createProvider();
  const other = await createProvider();
  const { dateId } = await createBookableDate(me);
  const fields = { payment_method: 'x', customer_id: await createCustomer(other) };
  const participants = [person({ products: [unknownId] })];
  const codes = async (id: number) =>
    errorCodes(await me.post('/v2/booking', bookingBody(id, { ...fields, participants })))?.sort();
  const expected = ['customer_invalid', 'participant_products_invalid', 'payment_method_invalid'];
  expect(await codes(dateId)).toEqual(expected);
  const foreignDateId = (await createBookableDate(other)).dateId;
  expect(await codes(foreignDateId)).toEqual(['course_date_identifier_invalid', ...expected]);
});
