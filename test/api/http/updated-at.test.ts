import { expect, test } from 'vitest';
import { dereference } from '../../support/openapi.ts';
import { send, sharedTestApp } from '../../support/test-app.ts';

const { app, createProvider } = await sharedTestApp();

type Schema = { properties?: Record<string, Schema>; items?: Schema; anyOf?: Schema[]; oneOf?: Schema[] };
type Operation = {
  operationId: string;
  parameters?: { name: string }[];
  responses: Record<string, { content?: Record<string, { schema: Schema }> }>;
};

function findItems(schema: Schema): Schema[] {
  const choices = [...(schema.anyOf ?? []), ...(schema.oneOf ?? [])];
  if (choices.length > 0) return choices.flatMap(findItems);
  return schema.items ? [schema.items] : findItems(schema.properties!['items']!);
}

test('items show updated_at where their list filters by it', async () => {
  const { paths } = dereference<{ paths: Record<string, { get?: Operation }> }>(
    (await send(app, { url: '/openapi.json' })).json<object>(),
  );
  const lists = Object.values(paths).flatMap(({ get }) =>
    get?.parameters?.some(({ name }) => name === 'updated_at_min') ? [get] : [],
  );
  expect(lists.length).toBeGreaterThan(14);
  for (const { operationId, responses } of lists) {
    const items = findItems(responses['200']!.content!['application/json']!.schema);
    expect([operationId, items.every((item) => 'updated_at' in item.properties!)]).toEqual([operationId, true]);
  }
});

test('the member is the moment of the last change', async () => {
  const me = await createProvider();
  type Item = { id: number; updated_at: string };
  const { id } = (await me.post('/v2/locations', { title: 'Hall' })).json<Item>();
  await me.post('/v2/vouchers', { code: 'A', amount: 5 });
  await me.post('/v2/course-tags', { title: 'Sea' });
  await me.post('/v2/campaigns', { title: 'C', discount_type: 'Percent', discount_value: 5 });
  for (const path of ['locations', 'vouchers', 'course-tags', 'campaigns']) {
    const [item] = (await me.get(`/v2/${path}`)).json<Item[]>();
    expect([path, item!.updated_at]).toEqual([path, expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:]{8}[+-]\d\d:\d\d$/)]);
  }
  await me.post('/v2/instructors', { firstname: 'Kari', lastname: 'Li' });
  const [instructor] = (await me.get('/v2/instructors')).json<Item[]>();
  expect(instructor!.updated_at).toMatch(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/);
  // An embedded location stays as it was.
  const { location } = (await me.get(`/v2/coursedates/?include=location&coursedate_id=${await dateAt(me, id)}`)).json<{
    items: { location: object }[];
  }>().items[0]!;
  expect(location).not.toHaveProperty('updated_at');
});

async function dateAt(me: Awaited<ReturnType<typeof createProvider>>, location_id: number) {
  const body = { start_at: '2030-06-10', end_at: '2030-06-10', location_id };
  const created = await me.post(`/v2/courses/${await me.course()}/coursedates`, body);
  return created.json<{ coursedate_id: number }>().coursedate_id;
}
