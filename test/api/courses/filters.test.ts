import { expect, test } from 'vitest';
import { sharedTestApp, type Provider } from '../../support/test-app.ts';

const { createProvider } = await sharedTestApp();

const listIds = (me: Provider) => async (query: string) =>
  (await me.get(`/v2/courses?${query}`)).json<{ id: number }[]>().map(({ id }) => id);

test('filters by reference without regard to case', async () => {
  const [me, other] = [await createProvider(), await createProvider()];
  const course = await me.course({ reference: 'Køl-101' });
  const without = await me.course();
  await me.course({ reference: 'KØL-102' });
  await other.course({ reference: 'Køl-101' });
  const ids = listIds(me);
  expect(await ids('reference=kØL-101')).toEqual([course]);
  expect(await ids('reference=K%C3%B8l')).toEqual([]);
  expect(await ids('reference=')).toHaveLength(3);
  expect(await ids(`since_id=${course}&reference=kØL-101`)).toEqual([]);
  expect(await ids('')).toContain(without);
});

test('filters by is_active', async () => {
  const me = await createProvider();
  const [active, inactive] = [await me.course(), await me.course({ active: 0 })];
  const ids = listIds(me);
  expect(await ids('is_active=1')).toEqual([active]);
  expect(await ids('is_active=false')).toEqual([inactive]);
  expect((await me.get('/v2/courses?is_active=2')).status).toBe(400);
});

test('q finds words of title and reference from their start', async () => {
  const [me, other] = [await createProvider(), await createProvider()];
  const cooking = await me.course({ title: 'Ærlig matlaging for nybegynnere', reference: 'KOK/2031-B' });
  const driving = await me.course({ title: "Truck-kurs (C++), O'Brien's" });
  await other.course({ title: 'Ærlig matlaging' });
  const ids = async (q: string) => listIds(me)(`q=${encodeURIComponent(q)}`);
  for (const q of ['ærlig', 'ÆRL', 'mat nyb', 'nyb mat', 'kok', 'KOK/2031', '2031 for', 'b ærlig']) {
    expect(await ids(q), q).toEqual([cooking]);
  }
  for (const q of ['truck', 'kurs', 'TRUCK-KURS', 'c++', "o'brien", 'o’brien', '(c'])
    expect(await ids(q), q).toEqual([driving]);
  for (const q of ['laging', 'matlaging truck', 'erlig', '++', '%', '_', "'", ':*', '|', '!kurs kok', '\\']) {
    expect(await ids(q), q).toEqual([]);
  }
  expect(await listIds(me)('q=')).toEqual([cooking, driving]);
  expect(await listIds(me)('q=kurs&order_by=created_at&order_direction=desc')).toEqual([driving]);
  expect((await me.get(`/v2/courses?q=${'x'.repeat(256)}`)).status).toBe(400);
  const words = (count: number) =>
    me.get(`/v2/courses?q=${Array.from({ length: count }, (_, n) => `æ${n}`).join('-')}`);
  expect([(await words(10)).status, (await words(11)).status]).toEqual([200, 400]);
});

test('q finds the changed title of a course, and not the former one', async () => {
  const me = await createProvider();
  const id = await me.course({ title: 'Former title' });
  expect((await me.put(`/v2/courses/${id}`, { title: 'Changed title' })).status).toBe(200);
  expect(await listIds(me)('q=former')).toEqual([]);
  expect(await listIds(me)('q=changed')).toEqual([id]);
});
