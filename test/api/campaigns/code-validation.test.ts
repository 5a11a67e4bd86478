import { expect, test } from 'vitest';
import { createBookableDate, errorCodes, createVoucher } from '../../support/booking.ts';
import { createCampaign } from '../../support/orders.ts';
import { sharedTestApp } from '../../support/test-app.ts';

const { createProvider } = await sharedTestApp();
const me = await createProvider();
const { courseId, dateId } = await createBookableDate(me);
const other = await createProvider();
const [past, future] = ['2020-01-01 00:00:00+01', '2030-01-01 00:00:00+01'];

test('a voucher is found by its case-insensitive code', async () => {
  const { id } = await createVoucher(me, {
    code: 'Gave-Å',
    amount: '500',
    balance: '120.5',
    currency: 'NOK',
    expiresAt: future,
  });
  const response = await me.get(`/v2/vouchers/validate/${encodeURIComponent(' gave-å ')}`);
  expect([response.status, response.json()]).toEqual([
    200,
    {
      successful: true,
      voucher: {
        ...{ id: String(id), currency: 'nok', code: 'Gave-Å', balance: '120.50', is_expired: false, is_deleted: false },
        ...{ expires_at: '2030-01-01T00:00:00+01:00', archived_at: null },
        created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:]{8}\+\d\d:00$/) as string,
      },
    },
  ]);
  expect(response.headers['etag']).toBeUndefined();
});

test('an expired, archived or deleted voucher is reported; a non-deleted one has priority', async () => {
  await createVoucher(me, { code: 'old', amount: '1', expiresAt: past, archivedAt: past });
  const old = (await me.get('/v2/vouchers/validate/old')).json();
  expect(old).toMatchObject({
    successful: true,
    voucher: { is_expired: true, archived_at: '2020-01-01T00:00:00+01:00' },
  });
  await createVoucher(me, { code: 'twice', amount: '1', deletedAt: past });
  expect((await me.get('/v2/vouchers/validate/twice')).json()).toMatchObject({
    voucher: { is_deleted: true, balance: '1.00' },
  });
  await createVoucher(me, { code: 'TWICE', amount: '2' });
  await createVoucher(me, { code: 'Twice', amount: '3', deletedAt: past });
  expect((await me.get('/v2/vouchers/validate/twice')).json()).toMatchObject({
    voucher: { is_deleted: false, code: 'TWICE' },
  });
});

test.each(['nothing', '%20', '%00', 'x'.repeat(300), "'", '%25'])('an unknown code is not found: %s', async (code) => {
  await createVoucher(other, { code: `nothing`, amount: '1' }).catch(() => undefined);
  for (const url of [`/v2/vouchers/validate/${code}`, `/v2/campaigns/validate/${code}?course_id=${courseId}`]) {
    const response = await me.get(url);
    expect([response.status, errorCodes(response)], url).toEqual([404, ['resource_not_found']]);
  }
});

test('a campaign is found by its code for a course or one of its dates', async () => {
  const id = await createCampaign(
    me,
    { campaignCode: 'Høst', title: 'Autumn', discountValue: '10' },
    { courses: [courseId] },
  );
  const expected = {
    successful: true,
    campaign: {
      ...{
        id: String(id),
        title: 'Autumn',
        type: 'Campaign',
        active: true,
        discount_type: 'Percent',
        discount_value: 10,
      },
      ...{ currency: 'nok', expired: false, waiting: false, running: true, campaign_code: 'Høst', uses_code: true },
      is_archived: false,
    },
  };
  for (const query of [
    `course_id=${courseId}`,
    `coursedate_id=${dateId}`,
    `coursedate_id=${dateId}&course_id=999999999`,
  ]) {
    const response = await me.get(`/v2/campaigns/validate/${encodeURIComponent('HØST')}?${query}`);
    expect([response.status, response.json()]).toEqual([200, expected]);
    expect(response.headers['etag']).toBeUndefined();
  }
});

test('an own course is required', async () => {
  await createCampaign(me, { campaignCode: 'any' });
  const theirs = await createBookableDate(other);
  const request = async (query: string) => {
    const response = await me.get(`/v2/campaigns/validate/any?${query}`);
    return [response.status, errorCodes(response)];
  };
  for (const query of ['', 'course_id=', 'x=1']) expect(await request(query)).toEqual([400, ['missing_course_id']]);
  expect(await request('course_id=x')).toEqual([400, ['field_invalid']]);
  const deleted = await createBookableDate(me, { deletedAt: past });
  expect(await request(`coursedate_id=${deleted.dateId}`)).toEqual([404, ['resource_not_found']]);
  const gone = await me.course();
  expect(await request(`course_id=${gone}`)).toEqual([200, undefined]);
  await me.request('DELETE')(`/v2/courses/${gone}`);
  expect(await request(`course_id=${gone}`)).toEqual([404, ['resource_not_found']]);
  for (const query of [`course_id=${theirs.courseId}`, `coursedate_id=${theirs.dateId}`, 'course_id=999999999'])
    expect(await request(query)).toEqual([404, ['resource_not_found']]);
  expect(await request(`course_id=${courseId}`)).toEqual([200, undefined]);
});

test('a campaign for other courses is not valid here', async () => {
  await createCampaign(me, { campaignCode: 'elsewhere' }, { courses: [await me.course()] });
  const response = await me.get(`/v2/campaigns/validate/elsewhere?course_id=${courseId}`);
  const message = 'The campaign is not for this course';
  expect([response.status, response.json()]).toEqual([
    400,
    { successful: false, errors: [{ code: 'campaign_code_invalid', message }], error: message },
  ]);
});

test.each<[string, Parameters<typeof createCampaign>[1], object]>([
  ['over', { endsAt: past }, { expired: true, running: false }],
  ['to come', { startsAt: future }, { waiting: true, running: false }],
  ['inactive', { isActive: false }, { active: false, running: false }],
  ['archived', { isArchived: true }, { is_archived: true, running: false }],
])('a campaign that is %s is reported', async (campaignCode, fields, expected) => {
  await createCampaign(me, { campaignCode, ...fields });
  const response = await me.get(`/v2/campaigns/validate/${campaignCode}?course_id=${courseId}`);
  expect([response.status, response.json()]).toMatchObject([200, { successful: true, campaign: expected }]);
});

test('an archived campaign with the same code is ignored', async () => {
  await createCampaign(me, { campaignCode: 'again', isArchived: true });
  const id = await createCampaign(me, { campaignCode: 'again' });
  await createCampaign(me, { campaignCode: 'AGAIN', isArchived: true });
  const response = await me.get(`/v2/campaigns/validate/again?course_id=${courseId}`);
  expect(response.json()).toMatchObject({ campaign: { id: String(id), is_archived: false } });
});

test('a code with a slash works in the path; a code in the query has no route', async () => {
  await createVoucher(me, { code: 'Paid / 10 %', amount: '10' });
  await createCampaign(me, { campaignCode: 'Spring / 10 %' });
  const [voucher, campaign] = ['paid / 10 %', 'spring / 10 %'].map(encodeURIComponent) as [string, string];
  for (const url of [`/v2/vouchers/validate/${voucher}`, `/v2/campaigns/validate/${campaign}?course_id=${courseId}`]) {
    const response = await me.get(url);
    expect([response.status, response.json().successful], url).toEqual([200, true]);
  }
  for (const url of ['/v2/vouchers/validate/none', `/v2/campaigns/validate/none?course_id=${courseId}`]) {
    const response = await me.get(url);
    expect([response.status, errorCodes(response)], url).toEqual([404, ['resource_not_found']]);
  }
  const withoutCourse = await me.get(`/v2/campaigns/validate/${campaign}`);
  expect([withoutCourse.status, errorCodes(withoutCourse)]).toEqual([400, ['missing_course_id']]);
  for (const url of [
    `/v2/vouchers/validate?code=${voucher}`,
    `/v2/campaigns/validate?code=${campaign}&course_id=${courseId}`,
  ])
    expect((await me.get(url)).status, url).toBe(404);
});
