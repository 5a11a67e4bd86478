import { expect, test } from 'vitest';
import { checkCounters } from '../../../src/resources/counters/service.ts';
import { exportToLines, importObjects } from '../../support/all-responses.ts';
import { createBookableDate } from '../../support/booking.ts';
import { sharedTestApp, type Provider } from '../../support/test-app.ts';

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
const participant = (ref: string, fields: Item) => ({
  ...{ kind: 'participant', ref, idBooking: 'o', coursedate_id: 'd', user_id: ref, order_lines: ['o'] },
  ...fields,
});
const base = [course, date, ...users, order('o'), order('other'), credit('k', 'o'), credit('l', 'other')];

const sharesOf = async (me: Provider) =>
  (await exportToLines({ database }, me))
    .filter(({ kind }) => kind === 'participant')
    .map(({ credits = [] }) =>
      (credits as Item[]).map(({ amount, is_credited }) => `${amount}${is_credited ? ' credited' : ''}`),
    );

/** What the move of the last participant to a course at 1300 costs more. */
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
])('%s in the credits of a participant is a bad line', async (_, fields, field) => {
  const me = await createProvider();
  const bad = participant('a', fields);
  const reasons = [`${base.length + 1}: Field(s) not valid: ${field}`];
  expect(await importObjects(me, [...base, bad])).toMatchObject({ reasons, written: 0 });
  // Of an earlier import, too.
  expect(await importObjects(me, base)).toMatchObject({ reasons: [], written: base.length });
  expect(await importObjects(me, [bad])).toMatchObject({ reasons: [`1: Field(s) not valid: ${field}`], written: 0 });
  const good = participant('a', { credits: [{ order_line_id: 'k', amount: -1000, is_credited: true }] });
  expect(await importObjects(me, [good])).toMatchObject({ reasons: [], written: 1 });
});
