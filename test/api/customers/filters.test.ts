import { expect, test } from 'vitest';
import { createCustomer } from '../../support/orders.ts';
import { sharedTestApp } from '../../support/test-app.ts';

const { createProvider } = await sharedTestApp();

test('filters by orgnr, email, reference and words', async () => {
  const [me, other] = [await createProvider(), await createProvider()];
  const fjord = { title: 'Fjord & Fjell AS', orgnr: '987654321', email: 'Post@fjord.example' };
  const a = await createCustomer(me, { ...fjord, customerReferenceId: 'K-17' });
  const b = await createCustomer(me, { title: 'Fjellheimen', customerReference: 'k-17' });
  const c = await createCustomer(me, { title: 'Tronrud', orgnr: '1987654321' });
  await createCustomer(other, { ...fjord, customerReferenceId: 'K-17' });
  const ids = async (query: string) =>
    (await me.get(`/v2/customers?${query}`)).json<{ id: number }[]>().map(({ id }) => id);
  expect(await ids('orgnr=987654321')).toEqual([a]);
  expect(await ids('orgnr=98765432')).toEqual([]);
  expect(await ids('email=post%40FJORD.example')).toEqual([a]);
  expect(await ids('email=fjord')).toEqual([]);
  expect(await ids('reference=K-17')).toEqual([a, b]);
  expect(await ids('q=fjell')).toEqual([a, b]);
  expect(await ids('q=fjord fje')).toEqual([a]);
  expect(await ids('q=1987')).toEqual([c]);
  expect(await ids('q=post@fjord')).toEqual([a]);
  expect(await ids('q=K-17')).toEqual([a, b]);
  expect(await ids('q=fjell&orgnr=987654321')).toEqual([a]);
});

test('orgnr compares digits, and texts without any as they are', async () => {
  const me = await createProvider();
  const a = await createCustomer(me, { title: 'A', orgnr: '923 609 016' });
  const b = await createCustomer(me, { title: 'B', orgnr: 'NO923609016MVA' });
  const c = await createCustomer(me, { title: 'C', orgnr: 'unknown' });
  await createCustomer(me, { title: 'D' });
  const ids = async (orgnr: string) =>
    (await me.get(`/v2/customers?orgnr=${encodeURIComponent(orgnr)}`)).json<{ id: number }[]>().map(({ id }) => id);
  for (const orgnr of ['923609016', '923 609 016', '923.609.016', 'NO 923 609 016'])
    expect([orgnr, await ids(orgnr)]).toEqual([orgnr, [a, b]]);
  expect(await ids('unknown')).toEqual([c]);
  expect(await ids('none')).toEqual([]);
});
