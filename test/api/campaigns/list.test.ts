import { expect, test } from 'vitest';
import { createCampaign, createCustomer } from '../../support/orders.ts';
import { sharedTestApp } from '../../support/test-app.ts';

const { createProvider } = await sharedTestApp();

const hours = (count: number) => new Date(Date.now() + count * 3_600_000).toISOString();

test('GET /v2/campaigns returns a plain array by id without an ETag', async () => {
  const me = await createProvider();
  const course = await me.course({ tags: [{ title: 'red' }] });
  const other = await me.course();
  const [customer, second] = [await createCustomer(me), await createCustomer(me)];
  const [tag] = (await me.get('/v2/course-tags')).json<{ id: number }[]>();
  const campaign = await createCampaign(
    me,
    {
      title: 'Summer',
      type: 'Agreement',
      campaignCode: 'SUN',
      currency: 'EUR',
      discountType: 'Value',
      discountValue: '99.90',
      startsAt: hours(-1),
      endsAt: hours(1),
    },
    { courses: [other, course], customers: [second, customer], tags: [tag!.id] },
  );
  const bare = await createCampaign(me, {});

  const response = await me.get('/v2/campaigns');
  expect([response.status, response.headers['etag'], response.headers['link']]).toEqual([200, undefined, undefined]);
  expect(response.json()).toEqual([
    {
      id: campaign,
      title: 'Summer',
      type: 'Agreement',
      active: true,
      expired: false,
      running: true,
      waiting: false,
      is_archived: false,
      uses_code: true,
      campaign_code: 'SUN',
      courses: [course, other],
      customers: [customer, second],
      tags: [tag!.id],
      currency: 'eur',
      discount_type: 'Value',
      discount_value: 99.9,
      updated_at: expect.any(String) as string,
    },
    {
      id: bare,
      title: null,
      type: 'Campaign',
      active: true,
      expired: false,
      running: true,
      waiting: false,
      is_archived: false,
      uses_code: false,
      campaign_code: null,
      courses: [],
      customers: [],
      tags: [],
      currency: 'nok',
      discount_type: 'Percent',
      discount_value: 10,
      updated_at: expect.any(String) as string,
    },
  ]);
  expect((await (await createProvider()).get('/v2/campaigns')).json()).toEqual([]);
});

const [past, earlier, soon, later] = [hours(-1), hours(-2), hours(1), hours(2)];
type Window = { startsAt?: string; endsAt?: string; isActive?: boolean; isArchived?: boolean };
test.each<[string, Window, string]>([
  ['before its start', { startsAt: soon, endsAt: later }, 'waiting'],
  ['before its start, without an end', { startsAt: soon }, 'waiting'],
  ['between', { startsAt: past, endsAt: soon }, 'running'],
  ['after its start, without an end', { startsAt: past }, 'running'],
  ['before its end, without a start', { endsAt: soon }, 'running'],
  ['after its end', { startsAt: earlier, endsAt: past }, 'expired'],
  ['between, but not active', { startsAt: past, endsAt: soon, isActive: false }, 'none'],
  ['between, but archived', { startsAt: past, endsAt: soon, isArchived: true }, 'none'],
  ['after its end, and archived', { endsAt: past, isArchived: true }, 'expired'],
])('a campaign %s', async (_name, fields, state) => {
  const me = await createProvider();
  await createCampaign(me, fields);
  const [campaign] = (await me.get('/v2/campaigns')).json();
  expect(campaign).toMatchObject({
    waiting: state === 'waiting',
    running: state === 'running',
    expired: state === 'expired',
    active: fields.isActive ?? true,
    is_archived: fields.isArchived ?? false,
  });
});
