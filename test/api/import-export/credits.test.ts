import { sql } from 'drizzle-orm';
import { Client } from 'pg';
import { expect, inject, test } from 'vitest';
import { allAreas } from '../../../src/database/areas.ts';
import { checkCounters } from '../../../src/domains/records/counters/service.ts';
import { exportToLines, importObjects } from '../../support/all-responses.ts';
import { createBookableDate } from '../../support/booking.ts';
import { connectionTo, sharedTestApp, type Provider } from '../../support/test-app.ts';

const { createProvider, database } = await sharedTestApp();

type Item = Record<string, any>;

const price = { product_id: 'c/products/1', price_at_order_per_item_vat_excluded: 1000 };
const course = {
  ...{ kind: 'course', ref: 'c', title: 'Knots' },
  products: [{ title: 'Knots', price: 1000, is_main_product: true }],
};
const date = { kind: 'coursedate', ref: 'd', course_id: 'c', start_at: '2031-06-10', end_at: '2031-06-10' };
const users = ['a', 'b', 'c'].map((ref) => ({ kind: 'user', ref, firstname: ref, username: ref }));
const order = (ref: string, quantity = 3) => ({
  ...{ kind: 'order', ref, title: 'Knots', booking: { ref, coursedate_id: 'd' } },
  lines: [{ ...price, ref, quantity }],
});
const credit = (ref: string, of: string, line: Item = {}, fields: Item = {}) => ({
  ...{ kind: 'order', ref, title: 'Knots', order_kind: 'credit', first_order_id: of, credit_applied: 1000 },
  lines: [{ ...price, ref, credits_line_id: of, quantity: -1, ...line }],
  ...fields,
});
const difference = (ref: string, of: string) => ({
  ...{ kind: 'order', ref, title: 'Knots', order_kind: 'difference', first_order_id: of },
  lines: [{ ...price, ref, quantity: 1 }],
});
const participant = (ref: string, fields: Item) => ({
  ...{ kind: 'participant', ref, idBooking: 'o', coursedate_id: 'd', user_id: ref, order_lines: ['o'] },
  ...fields,
});
const base = [
  ...[course, date, ...users, order('o'), order('other'), difference('x', 'o'), difference('y', 'other')],
  ...[credit('k', 'o'), credit('l', 'other'), credit('m', 'x')],
];

const sharesOf = async (me: Provider) =>
  (await exportToLines({ database }, me))
    .filter(({ kind }) => kind === 'participant')
    .map(({ credits = [] }) =>
      (credits as Item[]).map(({ amount, is_credited }) => `${amount}${is_credited ? ' credited' : ''}`),
    );

/** The amount of the difference order that moves the last participant to a course at 1300. */
async function moveLast(me: Provider) {
  const { dateId } = await createBookableDate(me, { course: { price_value: 1300 } });
  const [{ id }] = (await me.get('/v2/participants?order_by=id&order_direction=desc&limit=1')).json<[Item]>();
  const moved = await me.post(`/v2/participants/${id}/move`, { coursedate_id: dateId, price: 'difference' });
  expect(moved.status, moved.text).toBe(200);
  const orders = (await me.get('/v2/orders?limit=250')).json<Item[]>();
  return orders.at(-1)!['calculated_totals'].total_amount_after_discounts as number;
}

const left = (day: string) => ({ idStatus: 8, status_updated_at: `${day} 12:00` });
const all = { order_lines: ['o', 'k'] };

test.each<[string, Item[], string[][], number]>([
  ['of one who left', [credit('k', 'o')], [['-1000 credited'], [], []], 300],
  [
    'of two who left, in their order',
    [credit('k', 'o'), credit('l', 'o', { quantity: -1 })],
    [['-1000 credited'], ['-1000 credited'], []],
    300,
  ],
  [
    'that was exported before the second one left',
    [credit('k', 'o', { quantity: -2 }, { credit_applied: 2000, exported_at: '2026-06-03' })],
    [['-1000 credited'], ['-500'], ['-500']],
    800,
  ],
])(
  'a credit %s belongs to the same people after an import of a file without shares',
  async (_, credits, shares, more) => {
    const me = await createProvider();
    const lines = [course, date, ...users, order('o'), ...credits];
    const order_lines = ['o', ...credits.map(({ ref }) => ref as string)];
    const people = [
      participant('a', { order_lines, ...left('2026-06-02') }),
      participant('b', { order_lines, ...(more === 300 && credits.length === 1 ? {} : left('2026-06-04')) }),
      participant('c', { order_lines }),
    ];
    expect(await importObjects(me, [...lines, ...people])).toMatchObject({ reasons: [], written: lines.length + 3 });
    expect(await sharesOf(me)).toEqual(shares);
    expect((await checkCounters(database, { providerId: me.id })).differences).toEqual([]);
    expect(await moveLast(me)).toBe(more);
    expect(await importObjects(me, [...lines, ...people])).toMatchObject({ reasons: [], written: 0 });
    expect((await sharesOf(me)).slice(0, 2)).toEqual(shares.slice(0, 2));
  },
);

test.each<[string, Item, string]>([
  [
    'an ordinary line',
    { credits: [{ order_line_id: 'o', amount: '-1' }], order_lines: [] },
    'credits[0].order_line_id',
  ],
  ['a credit of another order', { credits: [{ order_line_id: 'l', amount: '-1' }] }, 'credits[0].order_line_id'],
  ['a credit without its line', { credits: [{ order_line_id: 'k' }], order_lines: [] }, 'credits[0].order_line_id'],
  [
    'a credit twice',
    {
      credits: [
        { order_line_id: 'k', amount: '-1' },
        { order_line_id: 'k', amount: '-2' },
      ],
    },
    'credits[1].order_line_id',
  ],
  ['a credit in both lists', { ...all, credits: [{ order_line_id: 'k', amount: '-1' }] }, 'credits[0].order_line_id'],
  ['an amount above 0', { credits: [{ order_line_id: 'k', amount: '1' }] }, 'credits[0].amount'],
  ['an older credit without its line', { order_lines: ['k'] }, 'order_lines'],
  ['an older credit of another booking', { order_lines: ['o', 'l'] }, 'order_lines'],
  ['an older credit of a difference without its line', { order_lines: ['o', 'm'] }, 'order_lines'],
  ['a difference of another booking', { order_lines: ['o', 'y'] }, 'order_lines'],
])('%s at a participant is a bad line', async (_, fields, field) => {
  const me = await createProvider();
  const bad = participant('a', fields);
  const reasons = [`${base.length + 1}: Field(s) not valid: ${field}`];
  expect(await importObjects(me, [...base, bad])).toMatchObject({ reasons, written: 0 });
  // Of an earlier import, too.
  expect(await importObjects(me, base)).toMatchObject({ reasons: [], written: base.length });
  expect(await importObjects(me, [bad])).toMatchObject({ reasons: [`1: Field(s) not valid: ${field}`], written: 0 });
  const good = [
    participant('a', { credits: [{ order_line_id: 'k', amount: -1000, is_credited: true }], order_lines: ['o', 'x'] }),
    participant('b', { order_lines: ['o', 'k', 'x', 'm'] }),
  ];
  expect(await importObjects(me, good)).toMatchObject({ reasons: [], written: 2 });
});

test('an order is credited although a stored credit names somebody whom its line does not name', async () => {
  const me = await createProvider();
  await importObjects(me, [...base, participant('a', {}), participant('b', { order_lines: [] })]);
  const text = sql`
    insert into order_line_participants (provider_id, order_line_id, participant_id)
    select ${me.id}, l.item_id, p.item_id from import_refs l join import_refs p on p.provider_id = ${me.id}
    where l.provider_id = ${me.id} and (l.kind, l.ref, p.kind, p.ref) = ('order_line', 'k', 'participant', 'b')`;
  await database.write([me.id], allAreas, ({ tx }) => tx.execute(text));
  const [{ id }] = (await me.get('/v2/orders?order_by=id')).json<[Item]>();
  const credited = await me.post(`/v2/orders/${id}/credit`, {});
  expect(credited.status, credited.text).toBe(201);
});

test('a file without participants does not read the participants of credits', async () => {
  const me = await createProvider();
  const locking = new Client(connectionTo(inject('shared')));
  await locking.connect();
  try {
    await locking.query('begin; lock table order_line_participants in access exclusive mode');
    expect(await importObjects(me, users)).toMatchObject({ reasons: [], written: users.length });
  } finally {
    await locking.end();
  }
});

test('a credit of a file that names no campaign has that of its order, and uses it no second time', async () => {
  const me = await createProvider();
  const value = { discount_type: 'Value', discount_value: 5 };
  const campaign = { kind: 'campaign', ref: 'w', title: 'Winter', starts_at: '2026-01-01', ...value };
  await importObjects(me, [course, date, campaign, { ...order('o'), idCampaign: 'w' }, credit('k', 'o')]);
  expect(await importObjects(me, [credit('later', 'o')])).toMatchObject({ reasons: [], written: 1 });
  const [{ id }] = (await me.get('/v2/campaigns')).json<[Item]>();
  const found = (await me.get(`/v2/orders?campaign_id=${id}`)).json<Item[]>();
  expect(found).toHaveLength(3);
  expect((await me.get(`/v2/campaigns/${id}`)).json<Item>()).toMatchObject({ uses: 1 });
  expect((await checkCounters(database, { providerId: me.id })).differences).toEqual([]);
});
