import { expect, test } from 'vitest';
import { checkCounters } from '../../../src/domains/records/counters/service.ts';
import { book, createBookableDate, deregister, errorCodes, getSummary, persons } from '../../support/booking.ts';
import { eventsSince, newestEvent } from '../../support/changes.ts';
import { createCampaign, createCustomer, write } from '../../support/orders.ts';
import { sharedTestApp, type Provider } from '../../support/test-app.ts';

const { database, createProvider } = await sharedTestApp();

type Campaign = { id: number; [member: string]: unknown };
const discount = { title: 'Sun', discount_type: 'Percent', discount_value: 12.5 };

const post = (me: Provider, fields: object = {}) => me.post('/v2/campaigns', { ...discount, ...fields });
async function create(me: Provider, fields: object = {}): Promise<Campaign> {
  const response = await post(me, fields);
  expect(response.status, response.text).toBe(201);
  return response.json<Campaign>();
}
const put = (me: Provider, id: number, fields: object) => me.put(`/v2/campaigns/${id}`, fields);
const archive = (me: Provider, id: number) => me.request('DELETE')(`/v2/campaigns/${id}`);
const get = async (me: Provider, id: number) => (await me.get(`/v2/campaigns/${id}`)).json<Campaign>();
const refusal = (error: string) => ({ error });

test('POST /v2/campaigns creates a campaign, and GET reads it with its period and uses', async () => {
  const me = await createProvider();
  const [course, customer] = [await me.course({ tags: [{ title: 'red' }] }), await createCustomer(me)];
  const [tag] = (await me.get('/v2/course-tags')).json<{ id: number }[]>();
  const created = await create(me, {
    ...{ type: 'Agreement', campaign_code: ' SUN ', currency: 'eur', discount_type: 'Value', discount_value: 99.95 },
    ...{ courses: [course, course], customers: [customer], tags: [tag!.id], max_uses: 3 },
    ...{ starts_at: '2026-01-01 09:00', ends_at: '2031-06-30', active: 0 },
  });
  const { starts_at, ends_at, max_uses, uses, ...listed } = created;
  expect([starts_at, ends_at, max_uses, uses]).toEqual([
    ...['2026-01-01T09:00:00+01:00', '2031-06-30T23:59:59+02:00'],
    ...[3, 0],
  ]);
  expect(listed).toMatchObject({
    ...{ title: 'Sun', type: 'Agreement', active: false, running: false, campaign_code: 'SUN', currency: 'eur' },
    ...{ courses: [course], customers: [customer], tags: [tag!.id], discount_type: 'Value', discount_value: 99.95 },
  });
  expect((await me.get('/v2/campaigns')).json()).toEqual([listed]);
  expect(await get(me, created.id)).toEqual(created);

  const bare = await create(me);
  expect(bare).toMatchObject({
    ...{ type: 'Campaign', active: true, running: true, campaign_code: null, uses_code: false, currency: 'nok' },
    ...{ courses: [], customers: [], tags: [], discount_value: 12.5 },
    ...{ starts_at: null, ends_at: null, max_uses: null, uses: 0 },
  });
});

test.each<[string, object, string]>([
  [
    'no fields',
    { title: '', discount_type: '', discount_value: '' },
    'Missing field(s): title,discount_type,discount_value',
  ],
  ['a type that there is not', { type: 'Gift', discount_type: 'Half' }, 'Field(s) not valid: type,discount_type'],
  ['more than two decimals', { discount_value: 12.345 }, 'Field(s) not valid: discount_value'],
  ['a negative discount', { discount_value: -1 }, 'Field(s) not valid: discount_value'],
  ['more than 100 percent', { discount_value: 100.01 }, 'Field(s) not valid: discount_value'],
  ['no use', { max_uses: 0 }, 'Field(s) not valid: max_uses'],
  ['an end at its start', { starts_at: '2030-01-01', ends_at: '2030-01-01 00:00' }, 'Field(s) not valid: ends_at'],
  ['a day that there is not', { ends_at: '2030-02-30' }, 'Field(s) not valid: ends_at'],
  [
    'unknown items',
    { courses: [999_999_999], customers: [1e9], tags: [1e9] },
    'Field(s) not valid: courses,customers,tags',
  ],
])('%s is refused, alone and in an update', async (_name, fields, error) => {
  const me = await createProvider();
  const { id } = await create(me);
  const before = await get(me, id);
  for (const response of [await post(me, fields), await put(me, id, fields)])
    expect([response.status, response.json()]).toEqual([400, refusal(error)]);
  expect(await get(me, id)).toEqual(before);
  expect((await me.get('/v2/campaigns')).json()).toHaveLength(1);
});

test('an update is checked together with what it leaves', async () => {
  const me = await createProvider();
  const { id } = await create(me, { starts_at: '2030-01-01', discount_type: 'Value', discount_value: 250 });
  expect((await put(me, id, { ends_at: '2029-12-31' })).json()).toEqual(refusal('Field(s) not valid: ends_at'));
  expect((await put(me, id, { discount_type: 'Percent' })).json()).toEqual(
    refusal('Field(s) not valid: discount_value'),
  );
  expect((await put(me, id, { discount_type: 'Percent', discount_value: 100 })).status).toBe(200);
});

test('PUT changes only what is sent, and replaces courses, customers and tags', async () => {
  const me = await createProvider();
  const courses = [await me.course(), await me.course()];
  const customer = await createCustomer(me);
  const { id, ...before } = await create(me, { courses: [courses[0]], customers: [customer], ends_at: '2031-06-30' });
  const cursor = await newestEvent(me);

  const other = (
    await put(me, id, { courses: [courses[1]], customers: [], title: 'Rain', max_uses: 2 })
  ).json<Campaign>();
  const updated_at = expect.any(String) as string;
  const fields = { courses: [courses[1]], customers: [], title: 'Rain', max_uses: 2, updated_at };
  expect(other).toEqual({ ...before, id, ...fields });
  expect((await put(me, id, { courses: courses.toReversed() })).json()).toMatchObject({ courses });
  const cleared = { max_uses: '', ends_at: null, courses: '' };
  expect((await put(me, id, cleared)).json()).toMatchObject({ max_uses: null, ends_at: null, courses: [] });
  expect((await put(me, id, { title: '' })).json()).toEqual(refusal('Missing field(s): title'));
  expect(await eventsSince(me, cursor)).toEqual(Array(3).fill('campaign.updated'));
});

test('a PUT of what was read keeps the end of a day', async () => {
  const me = await createProvider();
  const date = await createBookableDate(me);
  const { id, ends_at } = await create(me, { campaign_code: 'day', ends_at: '2031-06-30' });
  expect((await put(me, id, { ends_at, title: 'Rain' })).json()).toMatchObject({ ends_at, title: 'Rain' });
  const cursor = await newestEvent(me);
  expect((await put(me, id, { ends_at: '2031-06-30' })).status).toBe(200);
  expect(await eventsSince(me, cursor)).toEqual([]);
  expect((await book(me, date.dateId, { campaign_code: 'day' })).status).toBe(201);
});

test('DELETE archives a campaign: it applies no more, and stays readable', async () => {
  const me = await createProvider();
  const { dateId } = await createBookableDate(me);
  const { id } = await create(me, { campaign_code: 'once' });
  const cursor = await newestEvent(me);
  for (let n = 0; n < 2; n += 1) {
    const response = await archive(me, id);
    expect([response.status, response.json()]).toEqual([200, await get(me, id)]);
    expect(response.json()).toMatchObject({ is_archived: true, running: false });
  }
  expect(await eventsSince(me, cursor)).toEqual(['campaign.updated']);
  expect(errorCodes(await book(me, dateId, { campaign_code: 'once' }))).toEqual(['campaign_code_invalid']);
});

test('a code is unique among the campaigns that are not archived, without regard to case', async () => {
  const [me, other] = [await createProvider(), await createProvider()];
  const error = refusal('A campaign with an equal code exists already');
  const { id } = await create(me, { campaign_code: 'Å-10' });
  await create(other, { campaign_code: 'Å-10' });
  expect((await post(me, { campaign_code: 'å-10' })).json()).toEqual(error);
  const second = await create(me, { campaign_code: 'other' });
  const renamed = await put(me, second.id, { campaign_code: 'Å-10' });
  expect([renamed.status, renamed.json()]).toEqual([400, error]);
  expect((await put(me, id, { campaign_code: 'å-10' })).json()).toMatchObject({ campaign_code: 'å-10' });
  await archive(me, id);
  expect((await put(me, second.id, { campaign_code: 'Å-10' })).status).toBe(200);
  expect((await put(me, id, { title: 'Archived' })).json()).toMatchObject({ title: 'Archived', campaign_code: 'å-10' });
});

test('of parallel campaigns with one code one is created', async () => {
  const me = await createProvider();
  const responses = await Promise.all(
    Array.from({ length: 10 }, (_, n) => post(me, { campaign_code: n % 2 ? 'X' : 'x' })),
  );
  expect(responses.map(({ status }) => status).sort()).toEqual([201, ...Array<number>(9).fill(400)]);
});

test('a used up code is refused with a code of its own; each order is a use, however many take part', async () => {
  const [me, other] = [await createProvider(), await createProvider()];
  const { courseId, dateId } = await createBookableDate(me);
  const elsewhere = await createBookableDate(other);
  const fields = { campaign_code: 'few', max_uses: 2 };
  const { id } = await create(me, fields);
  await create(other, fields);
  const state = async () => {
    const { campaign } = (await me.get(`/v2/campaigns/validate/few?course_id=${courseId}`)).json<{
      campaign: object;
    }>();
    const [listed] = (await me.get('/v2/campaigns')).json<Campaign[]>();
    return [(await get(me, id))['uses'], campaign, listed].map((one) =>
      typeof one === 'object' ? (one as Campaign)['running'] : one,
    );
  };
  expect(await state()).toEqual([0, true, true]);
  const first = getSummary(await book(me, dateId, { campaign_code: 'few', participants: persons(3) }));
  expect(await state()).toEqual([1, true, true]);
  expect((await book(me, dateId)).status).toBe(201);
  expect((await book(me, dateId, { campaign_code: 'FEW' })).status).toBe(201);
  expect(await state()).toEqual([2, false, false]);

  const refused = await book(me, dateId, { campaign_code: 'few' });
  expect([refused.status, refused.json()]).toMatchObject([
    400,
    { errors: [{ code: 'campaign_code_used_up', message: 'The campaign has been used up' }] },
  ]);
  expect((await book(other, elsewhere.dateId, { campaign_code: 'few' })).status).toBe(201);
  // Deregistering gives none back.
  await deregister(me, first.booking_id);
  expect(errorCodes(await book(me, dateId, { campaign_code: 'few' }))).toEqual(['campaign_code_used_up']);
  await put(me, id, { max_uses: 3 });
  expect((await book(me, dateId, { campaign_code: 'few' })).status).toBe(201);
  expect(await state()).toEqual([3, false, false]);
  await put(me, id, { active: false });
  expect(errorCodes(await book(me, dateId, { campaign_code: 'few' }))).toEqual(['campaign_code_invalid']);
});

test('a used up agreement no longer applies; the next one does', async () => {
  const me = await createProvider();
  const { dateId } = await createBookableDate(me);
  const customer_id = await createCustomer(me);
  const agreement = { type: 'Agreement', customers: [customer_id] };
  await create(me, { ...agreement, discount_value: 50, max_uses: 1 });
  await create(me, { ...agreement, discount_value: 10, max_uses: 1 });
  const total = async () => getSummary(await book(me, dateId, { customer_id })).total_incl_vat;
  expect([await total(), await total(), await total()]).toEqual([500, 900, 1000]);
});

test('a repeated booking with one Idempotency-Key is one use', async () => {
  const me = await createProvider();
  const { dateId } = await createBookableDate(me);
  const { id } = await create(me, { campaign_code: 'again', max_uses: 1 });
  const body = { campaign_code: 'again', participants: persons(1) };
  for (let n = 0; n < 2; n += 1)
    expect((await book(me, dateId, body, { 'idempotency-key': 'use once' })).status).toBe(201);
  expect(await get(me, id)).toMatchObject({ uses: 1, running: false });
});

test('the look-up of a code is no campaign', async () => {
  const me = await createProvider();
  for (const method of ['GET', 'PUT', 'DELETE'] as const)
    expect((await me.request(method)('/v2/campaigns/validate')).status, method).toBe(404);
});

test('a campaign of a file without a title can be given one', async () => {
  const me = await createProvider();
  const id = await createCampaign(me, { title: null });
  expect((await put(me, id, await get(me, id))).json()).toEqual({ error: 'Missing field(s): title' });
  expect((await put(me, id, { title: 'Now' })).json()).toMatchObject({ title: 'Now' });
});

test('the uses of campaigns follow orders that are added, moved and deleted, and doctor counts them again', async () => {
  const me = await createProvider();
  const [one, two] = [(await create(me, {})).id, (await create(me, {})).id];
  const run = (statement: string) => write(me, (tx) => tx.execute(statement));
  const readUses = async () => [(await get(me, one))['uses'], (await get(me, two))['uses']];
  const ofMe = `provider_id = ${me.id}`;
  await run(`insert into orders (provider_id, title, campaign_id, created_at, updated_at)
    select ${me.id}, n, nullif(n, 4) - n + ${one}, now(), now() from generate_series(1, 4) n`);
  expect(await readUses()).toEqual([3, 0]);
  await run(`update orders set title = title || 'x' where ${ofMe}`);
  expect(await readUses()).toEqual([3, 0]);
  await run(`update orders set campaign_id = ${two} where ${ofMe} and (campaign_id is null or title = '1x')`);
  expect(await readUses()).toEqual([2, 2]);
  await run(`update orders set campaign_id = null where ${ofMe} and title = '2x'`);
  await run(`delete from orders where ${ofMe} and title = '1x'`);
  expect(await readUses()).toEqual([1, 1]);

  const check = async (fix = false) => (await checkCounters(database, { providerId: me.id, fix })).differences;
  expect(await check()).toEqual([]);
  await run(`update campaigns set uses = 9 where ${ofMe} and id = ${one}`);
  const wrong = [{ provider_id: me.id, items: 'campaigns', id: one, figure: 'uses', stored: '9', counted: '1' }];
  expect(await check(true)).toEqual(wrong);
  expect([await check(), await readUses()]).toEqual([[], [1, 1]]);
});
