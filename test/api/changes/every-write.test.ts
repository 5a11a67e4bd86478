import { afterAll, expect, test } from 'vitest';
import { recordedTypes } from '../../../src/database/record-events.ts';
import { checkCounters } from '../../../src/domains/records/counters/service.ts';
import { allWrites } from '../../support/data-versions.ts';
import { createOwner } from '../../support/isolation.ts';
import { write } from '../../support/orders.ts';
import { openTestApp, openTestDatabase, ownDatabase } from '../../support/test-app.ts';

type Item = Record<string, unknown>;
/** The items or rows of each resource by id. */
type Snapshot = Record<string, Map<number, Item>>;

/** The list of each resource that has one, with deleted and exported items. */
const lists = {
  course: '/v2/courses?include_deleted=1&limit=250',
  coursedate: '/v2/coursedates?include_deleted=1&limit=250',
  participant: '/v2/participants?limit=250',
  order: '/v2/orders?exported=1&limit=250',
  customer: '/v2/customers?limit=250',
  instructor: '/v2/instructors?limit=250',
  location: '/v2/locations?limit=250',
  payment: '/v2/payments?limit=250',
  campaign: '/v2/campaigns?limit=250',
  tag: '/v2/course-tags',
};
const tables = {
  ...{ course: 'courses', coursedate: 'course_dates', booking: 'bookings', participant: 'participants' },
  ...{
    order: 'orders',
    payment: 'payments',
    customer: 'customers',
    courseuser: 'course_users',
    instructor: 'instructors',
  },
  ...{ location: 'locations', campaign: 'campaigns', tag: 'tags', school: 'providers' },
};

const changedMembers = (before: Item, after: Item) =>
  Object.keys(before).filter((key) => JSON.stringify(before[key]) !== JSON.stringify(after[key]));

const seats = /^(num_\w+|has_participants|updated_at)$/;

/** The changes of a row; an import creates a deleted item by one event, and a placeholder is not shown. */
function toChanges({ before, after }: Difference, write: string) {
  if ((after ?? before)?.['is_placeholder']) return [];
  if (!before) return after?.['deleted_at'] && !write.startsWith('import') ? ['created', 'deleted'] : ['created'];
  if (!after) return [write.includes('merge') ? 'merged' : 'deleted'];
  const changed = changedMembers(before, after);
  if (changed.length === 0) return [];
  if (changed.includes('erased_at')) return ['erased'];
  if (changed.includes('deleted_at')) return ['deleted'];
  return changed.length > 1 && changed.every((key) => seats.test(key)) ? ['seats_changed'] : ['updated'];
}

type Difference = { resource: string; id: number; before: Item | undefined; after: Item | undefined };

const compare = (before: Snapshot, after: Snapshot): Difference[] =>
  Object.entries(after).flatMap(([resource, items]) =>
    [...new Set([...before[resource]!.keys(), ...items.keys()])].map((id) => {
      return { resource, id, before: before[resource]!.get(id), after: items.get(id) };
    }),
  );

/** Embedded items, whose changes leave events of their own. */
const embedded =
  /^(course|coursedate|customer|user|location|instructors?|provider|seller|place|bundle|product|lines|tags)$/;
const hasOwnChange = ({ before, after }: Difference) =>
  !before || !after || changedMembers(before, after).some((key) => !embedded.test(key));

type Event = { type: string; resource: string; resource_id: number; at: string };
type Changes = { items: Event[]; cursor: string };

const name = await ownDatabase(afterAll);
const testApp = await openTestApp(openTestDatabase(name));
afterAll(testApp.close);
const owner = await createOwner(testApp);
const { me } = owner;
// A slug follows from the title, whose marker has capitals.
await write(me, (tx) => tx.execute(`update courses set slug = lower(slug) where provider_id = ${me.id}`));
const writes = allWrites(testApp, name);

async function readLists(): Promise<Snapshot> {
  const entries = Object.entries(lists).map(async ([resource, url]) => {
    const body = (await me.get(url)).json<Item[] | { items: Item[] }>();
    const items = Array.isArray(body) ? body : body.items;
    return [resource, new Map(items.map((item) => [Number(item['coursedate_id'] ?? item['id']), item]))] as const;
  });
  const { school } = (await me.get('/v2/schools')).json<{ school: Item }>();
  return { ...Object.fromEntries(await Promise.all(entries)), school: new Map([[me.id, school]]) };
}

async function readRows(): Promise<Snapshot> {
  const entries = Object.entries(tables).map(async ([resource, table]) => {
    const isOwn = resource === 'school' ? '$1 in (id, parent_id)' : 'provider_id = $1';
    // The use of a campaign is counted as by a booking, without an event.
    const text = `select to_jsonb(t) - '{password_hash,uses,is_use_returned}'::text[] as row from ${table} t where ${isOwn}`;
    const { rows } = await testApp.database.pool.query<{ row: Item & { id: number } }>({ text, values: [me.id] });
    return [resource, new Map(rows.map(({ row }) => [row.id, row]))] as const;
  });
  return Object.fromEntries(await Promise.all(entries));
}

const readChanges = async (cursor: string) => (await me.get(`/v2/changes?limit=1000&since=${cursor}`)).json<Changes>();

const read = async () => ({ rows: await readRows(), lists: await readLists() });
let before = await read();
let { cursor } = (await me.get('/v2/changes')).json<Changes>();

const fix = 'doctor --fix';

test.each(writes.filter((one) => one.name !== fix))(
  '$name leaves exactly the events of its changes',
  async ({ name, run }) => {
    await run(owner);
    const after = await read();
    const { items: all, cursor: next } = await readChanges(cursor);
    // Those of code stand beside them.
    const items = all.filter(({ type }) => !(recordedTypes as string[]).includes(type));
    const expected = compare(before.rows, after.rows).flatMap((row) =>
      toChanges(row, name).map((change) => `${row.resource}.${change} ${row.id}`),
    );
    const changed = compare(before.lists, after.lists).filter(hasOwnChange);
    [before, cursor] = [after, next];

    // Some consist of several requests; an item that the first one creates may be updated by the next.
    const recorded = [...new Set(items.map(({ type, resource_id }) => `${type} ${resource_id}`))];
    const isUpdateOfNew = (one: string) =>
      /updated|seats_changed/.test(one) && recorded.includes(one.replace(/\.\w+/, '.created'));
    expect(recorded.filter((one) => !isUpdateOfNew(one)).sort()).toEqual(expected.sort());
    // One event of an item per transaction, whose events have the same time.
    const transactions = items.map(({ resource, resource_id, at }) => `${resource} ${resource_id} ${at}`);
    expect(new Set(transactions).size).toBe(transactions.length);
    const recordedItems = new Set(items.map(({ resource, resource_id }) => `${resource} ${resource_id}`));
    expect(changed.filter(({ resource, id }) => !recordedItems.has(`${resource} ${id}`))).toEqual([]);
  },
);

test('repairs of seat counters and order totals leave an event each', async () => {
  const { ids } = owner;
  await write(me, async (tx) => {
    await tx.execute(`update course_dates set num_waiting = 7 where id = ${ids.date}`);
    await tx.execute(`update orders set total_vat = total_vat + 1 where id = ${ids.order}`);
  });
  const { cursor: damaged } = (await me.get('/v2/changes')).json<Changes>();
  await checkCounters(testApp.database, { fix: true });
  const { items } = await readChanges(damaged);
  expect(items.map(({ type, resource_id }) => [type, resource_id])).toEqual([
    ['coursedate.seats_changed', ids.date],
    ['order.updated', ids.order],
  ]);
});
