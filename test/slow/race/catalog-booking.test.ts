import { expect, test } from 'vitest';
import { newKey } from '../../../src/plugins/pages/catalog/booking/form.ts';
import { createBookableDate } from '../../support/booking.ts';
import { switchCatalogOn } from '../../support/catalog.ts';
import { readFormFields } from '../../support/catalog-form.ts';
import { addDate } from '../../support/dates.ts';
import { startServers } from '../../support/servers.ts';

/** Servers behind a proxy, with a school that has a catalog. */
async function openSchool(unlocked = false) {
  const servers = await startServers({ unlocked, env: { TRUST_PROXY: '127.0.0.1' } });
  const me = await servers.createProvider();
  const base = await switchCatalogOn(me);
  await me.put('/v2/booking-settings', { mails: { receipt: true } });
  const { courseId } = await createBookableDate(me, { course: { title: 'Knots' } });
  let sent = 0;

  /** The form of a new date; each post has an address and a key of its own. */
  async function openForm(capacityMax: number) {
    const dateId = await addDate(me, courseId, { capacityMax });
    const url = `${base}/dates/knots-${dateId}/book`;
    const fields = readFormFields({ text: await (await fetch(`${servers.urls[0]}${url}`)).text() });
    const send = async (email: string) => {
      const n = (sent += 1);
      const person = { firstname_1: 'Kari', lastname_1: `No ${n}`, email_1: email };
      const own = { ...fields, ...person, key: newKey(), action: 'book' };
      const started = performance.now();
      const response = await fetch(`${servers.urls[n % servers.urls.length]}${url}`, {
        ...{ method: 'POST', redirect: 'manual', body: new URLSearchParams(own) },
        headers: { 'x-forwarded-for': `10.${n >> 16}.${(n >> 8) & 255}.${n & 255}` },
      });
      const text = await response.text();
      return { status: response.status, isFull: text.includes('Nothing was booked.'), ms: performance.now() - started };
    };
    return { dateId, send };
  }

  const count = async (query: string, ...values: unknown[]) => {
    const { rows } = await servers.database.pool.query<{ count: number }>(query, [me.id, ...values]);
    return rows[0]!.count;
  };
  const countMails = (email: string) =>
    count(
      `select count(*)::int from outbox o
        left join bookings b on b.provider_id = o.provider_id and b.id = o.booking_id
        left join course_users u on u.provider_id = o.provider_id and u.id = o.user_id
      where o.provider_id = $1 and lower(coalesce(b.booker_email, u.email)) = $2`,
      email,
    );
  const countPlaces = (dateId: number) =>
    count('select count(*)::int from participants where provider_id = $1 and course_date_id = $2', dateId);
  return { openForm, countMails, countPlaces };
}

test('500 forms at once for 10 places, on two servers: 10 are booked, and each is answered within 10 s', async () => {
  const { openForm, countPlaces } = await openSchool();
  const { dateId, send } = await openForm(10);
  const answers = await Promise.all(Array.from({ length: 500 }, (_, n) => send(`caller-${n}@race.example`)));
  const booked = answers.filter(({ status }) => status === 303).length;
  const refused = answers.filter(({ status, isFull }) => status === 409 && isFull).length;
  expect([booked, refused, await countPlaces(dateId)]).toEqual([10, 490, 10]);
  const slowest = Math.max(...answers.map(({ ms }) => ms));
  console.log(`The slowest of 500 answers took ${Math.round(slowest)} ms`);
  expect(slowest).toBeLessThan(10_000);
});

test('1,000 forms with one recipient are all booked, and send 5 mails', async () => {
  const { openForm, countMails, countPlaces } = await openSchool();
  const { dateId, send } = await openForm(0);
  const statuses: number[] = [];
  for (let n = 0; n < 20; n += 1) {
    const email = n % 2 === 0 ? 'victim@race.example' : 'Victim@Race.example';
    statuses.push(...(await Promise.all(Array.from({ length: 50 }, () => send(email)))).map(({ status }) => status));
  }
  expect(statuses.filter((status) => status !== 303)).toEqual([]);
  expect([await countPlaces(dateId), await countMails('victim@race.example')]).toEqual([1_000, 5]);
});

test('negative control: without lock and queue forms oversell, and send more mails', async () => {
  const { openForm, countMails, countPlaces } = await openSchool(true);
  let [oversold, surplus] = [0, 0];
  for (let round = 1; round <= 15 && (oversold <= 0 || surplus <= 0); round += 1) {
    const email = `victim-${round}@race.example`;
    const { dateId, send } = await openForm(10);
    await Promise.all(Array.from({ length: 200 }, () => send(email)));
    oversold = Math.max(oversold, (await countPlaces(dateId)) - 10);
    surplus = Math.max(surplus, (await countMails(email)) - 5);
  }
  expect([oversold, surplus].every((one) => one > 0)).toBe(true);
});
