import { expect, test } from 'vitest';
import { exportToLines, importObjects } from '../../support/all-responses.ts';
import { sharedTestApp } from '../../support/test-app.ts';

const testApp = await sharedTestApp();

const voucher = (code: string, expires_at?: string) => ({ kind: 'voucher', ref: code, code, amount: 10, expires_at });
const campaign = (ref: string, fields: Record<string, unknown>) => ({
  ...{ kind: 'campaign', ref, title: ref, campaign_code: ref, discount_type: 'Percent', discount_value: 10 },
  ...fields,
});

test('a voucher that expires on a bare day is valid through that day', async () => {
  const me = await testApp.createProvider();
  const objects = [
    voucher('SUMMER', '2030-06-10'),
    voucher('WINTER', '2030-12-10'),
    voucher('CHANGE', '2030-10-27'),
    voucher('LAST', '9999-12-29'),
    voucher('MOMENT', '2030-06-10 00:00'),
    voucher('OFFSET', '2030-06-10T12:00:00Z'),
    voucher('PAST', '2020-02-29'),
    voucher('NEVER'),
  ];
  expect(await importObjects(me, objects)).toMatchObject({ written: 8, reasons: [] });
  const exported = (await exportToLines(testApp, me)).filter(({ kind }) => kind === 'voucher');
  expect(exported.map(({ code, expires_at }) => [code, expires_at])).toEqual([
    ['SUMMER', '2030-06-10T23:59:59.999999+02:00'],
    ['WINTER', '2030-12-10T23:59:59.999999+01:00'],
    ['CHANGE', '2030-10-27T23:59:59.999999+01:00'],
    ['LAST', '9999-12-29T23:59:59.999999+01:00'],
    ['MOMENT', '2030-06-10T00:00:00+02:00'],
    ['OFFSET', '2030-06-10T14:00:00+02:00'],
    ['PAST', '2020-02-29T23:59:59.999999+01:00'],
    ['NEVER', undefined],
  ]);
  const read = async (code: string) =>
    (await me.get(`/v2/vouchers/validate/${code}`)).json<{ voucher: Record<string, unknown> }>().voucher;
  expect(await read('SUMMER')).toMatchObject({ is_expired: false, expires_at: '2030-06-10T23:59:59+02:00' });
  expect(await read('PAST')).toMatchObject({ is_expired: true, expires_at: '2020-02-29T23:59:59+01:00' });

  const copy = await testApp.createProvider();
  await importObjects(copy, exported);
  const again = (await exportToLines(testApp, copy)).filter(({ kind }) => kind === 'voucher');
  expect(again.map(({ expires_at }) => expires_at)).toEqual(exported.map(({ expires_at }) => expires_at));
});

test('a campaign between two bare days runs from the start of the first through the last', async () => {
  const me = await testApp.createProvider();
  const objects = [
    campaign('DAY', { starts_at: '2030-06-10', ends_at: '2030-06-10' }),
    campaign('BACKWARDS', { starts_at: '2030-06-11', ends_at: '2030-06-10' }),
  ];
  expect(await importObjects(me, objects)).toMatchObject({ reasons: ['2: Field(s) not valid: ends_at'] });
  await importObjects(me, objects.slice(0, 1));
  const [exported] = (await exportToLines(testApp, me)).filter(({ kind }) => kind === 'campaign');
  expect(exported).toMatchObject({
    starts_at: '2030-06-10T00:00:00+02:00',
    ends_at: '2030-06-10T23:59:59.999999+02:00',
  });
});

test.each(['2030-02-30', '9999-12-30', '2030-6-1', 'tomorrow'])('the day %s is refused', async (expires_at) => {
  const me = await testApp.createProvider();
  const { reasons } = await importObjects(me, [voucher('V', expires_at)]);
  expect(reasons).toEqual(['1: Field(s) not valid: expires_at']);
});
