import { eq } from 'drizzle-orm';
import { expect, test } from 'vitest';
import { products } from '../../../src/database/tables/courses.ts';
import { endDueHoldsOfSchool } from '../../../src/domains/bookings/seat-assignment/promotion-service.ts';
import { bookOrFail, createBookableDate, deregister, person, persons, statusesOnDate } from '../../support/booking.ts';
import { readFormFields } from '../../support/catalog-form.ts';
import { eventsSince, newestEvent } from '../../support/changes.ts';
import { addLocation } from '../../support/dates.ts';
import { createUser, write } from '../../support/orders.ts';
import { createLinkToken, createUserToken, signedInVisitor, visitor } from '../../support/pages.ts';
import { sharedTestApp, type Provider, type TestResponse } from '../../support/test-app.ts';

const { app, database, createProvider } = await sharedTestApp();
const anyone = visitor(app);
const main = ({ text }: TestResponse) =>
  /<main[^>]*>(.*)<\/main>/s
    .exec(text)![1]!
    .replaceAll(/<[^>]*>/g, '|')
    .replaceAll(/\s*\|[|\s]*/g, '|')
    .replaceAll('\u00a0', ' ');
/** `$1` is the provider. */
const rowsOf = async (me: Provider, query: string) =>
  (await database.pool.query<Record<string, unknown>>(query, [me.id])).rows;
const forced = async (me: Provider, statement: string) =>
  (await me.ctx()).write(['dates', 'people', 'money'], ({ tx }) =>
    tx.$client.query(`${statement} and provider_id = $1`, [me.id]),
  );
const writersOf = (me: Provider) =>
  rowsOf(me, `select actor, action from audit_entries where provider_id = $1 and action like '%/my/%' order by id`);

const booker = { booker_name: 'Ola', booker_email: 'ola@payer.example' };
const joinUrl = 'https://meet.example/knots';

async function payer(fields: Record<string, unknown>, date: Parameters<typeof createBookableDate>[1] = {}) {
  const me = await createProvider('Øystese kurs');
  const { courseId, dateId } = await createBookableDate(me, { course: { title: 'Knots' }, eventUrl: joinUrl, ...date });
  const summary = await bookOrFail(me, dateId, { ...booker, ...fields });
  const bookingId = Number(summary.booking_id);
  const url = `/my/booking/${await createLinkToken(me, { bookingId })}`;
  return { me, courseId, dateId, summary, url, bookingId, ids: summary.participants.map(({ id }) => id) };
}
const group = (places: number, date: Parameters<typeof createBookableDate>[1] = {}) =>
  payer({ participants: undefined, places }, date);

/** A person who waits has an offer; the booking before gave the seat up. */
async function offered(waiting = 1, date: Parameters<typeof createBookableDate>[1] = {}) {
  const me = await createProvider();
  const { dateId } = await createBookableDate(me, {
    ...{
      capacityMax: 1,
      capacityWait: 3,
      waitingMode: 'offer',
      course: { title: 'Knots' },
      eventUrl: joinUrl,
      ...date,
    },
  });
  const first = await bookOrFail(me, dateId);
  const wait = { config: { waiting_list_when_full: 1 } };
  const summaries = [];
  for (let n = 0; n < waiting; n += 1) summaries.push(await bookOrFail(me, dateId, wait));
  await deregister(me, first.booking_id);
  const id = summaries[0]!.participants[0]!.id;
  const bookingId = Number(summaries[0]!.booking_id);
  const url = `/my/offer/${await createLinkToken(me, { bookingId, participantId: id })}`;
  return { me, dateId, id, bookingId, url, others: summaries.slice(1).map((one) => one.participants[0]!.id) };
}
const accept = (url: string) => anyone.post(url, { answer: 'accept' });
const decline = (url: string) => anyone.post(url, { answer: 'decline' });
const offerEvents = async (me: Provider, since: string) =>
  (await eventsSince(me, since)).filter((type) => type.startsWith('offer.'));

test('a payer whose participants all wait owes nothing yet', async () => {
  const { me, url, ids } = await payer({ participants: [person({ status_id: 3 })] }, { capacityWait: 1 });
  expect(main(await anyone.get(url))).toContain(
    '|Left to pay|Nothing to pay now. NOK 1,000.00 is due if you get a place.|',
  );
  expect(main(await anyone.get(url, { 'accept-language': 'nb' }))).toContain(
    '|Gjenstår å betale|Ingenting å betale nå. Får du plass, skal du betale 1 000,00 kr.|',
  );
  await forced(me, `update participants set status_id = 1 where id = ${ids[0]}`);
  expect(main(await anyone.get(url))).toContain('|Left to pay|NOK 1,000.00|Order number|');
});

test('the payer sees date, place, people and amounts, and no link to join', async () => {
  const { me, url, summary, dateId } = await payer(
    { participants: [person({ lastname: 'Vik' }), person({ lastname: 'Moe', status_id: 3 })] },
    { capacityWait: 1, startAt: '2030-06-10', endAt: '2030-06-10', startTimeAt: '09:00', endTimeAt: '15:30' },
  );
  const locationId = await addLocation(me, {
    title: 'The boathouse',
    address: 'Bryggen 1',
    zipcode: '5003',
    city: 'Bergen',
  });
  await forced(me, `update course_dates set location_id = ${locationId} where id = ${dateId}`);
  await me.post(`/v2/orders/${summary.order_id}/payments`, { amount: 300.5 });
  const response = await anyone.get(url);
  expect([response.status, main(response)]).toEqual([
    200,
    '|Your booking|Knots|When|Monday 10 June 2030,|09:00–15:30|Where|The boathouse|Bryggen 1|5003 Bergen|Participants' +
      '|Kari Vik|Has a place|Kari Moe|On the waiting list' +
      `|Payment|Price with VAT|NOK 2,000.00|Paid|NOK 300.50|Left to pay|NOK 1,699.50|The places on the waiting list are due only if you get them.|Order number|${summary.order_id}|`,
  ]);
  expect(response.text).not.toContain('meet.example');
  expect(response.text).toContain('<p class="school">Øystese kurs</p>');
  const inNorwegian = await anyone.get(url, { 'accept-language': 'nb' });
  expect(main(inNorwegian)).toContain('|Gjenstår å betale|1 699,50 kr|');
});

test.each([
  [undefined, 'no', 'no'],
  ['de', 'no', 'no'],
  ['de, en;q=0.1', 'no', 'en'],
  ['nn', 'en', 'no'],
  ['de', null, 'en'],
] as const)(
  'for Accept-Language %j and a school in %j its mailed links are in %s',
  async (accepted, language, shown) => {
    const { me, url, bookingId } = await offered();
    expect((await me.put('/v2/booking-settings', { language })).status).toBe(200);
    const userId = await createUser(me);
    const headers: Record<string, string> = accepted === undefined ? {} : { 'accept-language': accepted };
    const booking = `/my/booking/${await createLinkToken(me, { bookingId })}`;
    const paths = [url, booking, `/my/password/${await createUserToken(me, 'password', userId)}`];
    for (const path of paths) expect((await anyone.get(path, headers)).text).toContain(`<html lang="${shown}">`);
    const faulty = await anyone.post(url, { answer: 'x' }, headers);
    expect([faulty.status, faulty.text.includes(`<html lang="${shown}">`)]).toEqual([400, true]);
    const browser = await signedInVisitor(app, me, userId, headers);
    expect((await browser.get('/my')).text).toContain(`<html lang="${shown}">`);
  },
);

/** The fields of a form that names places. */
const fieldsOf = (places: [number, Record<string, string>][]) =>
  Object.fromEntries(
    places.flatMap(([id, fields]) => Object.entries(fields).map(([name, text]) => [`${name}_${id}`, text])),
  );
const named = (lastname: string) => ({
  firstname: 'Kari',
  lastname,
  email: `${lastname.toLowerCase()}@people.example`,
});
const swaps = async (me: Provider, since: string) =>
  (await eventsSince(me, since)).filter((type) => type === 'participant.swapped').length;

test('the payer names the places of a group, which confirms them, and names none twice', async () => {
  const { me, url, ids, dateId } = await group(3, { capacityMax: 2, capacityOverbook: 1 });
  const before = main(await anyone.get(url));
  expect(before).toContain('|No name yet|Reserved|No name yet|Reserved|No name yet|Has an extra place|');
  expect(before).toContain('|3 places have no name yet.');

  const cursor = await newestEvent(me);
  const saved = await anyone.post(
    url,
    fieldsOf([
      [ids[0]!, named('Vik')],
      [ids[2]!, named('Moe')],
    ]),
  );
  expect([saved.status, main(saved)]).toEqual([200, expect.stringContaining('|2 participants are named.|')]);
  expect(main(saved)).toContain('|Kari Vik|Has a place|No name yet|Reserved|Kari Moe|Has an extra place|');
  expect(await statusesOnDate(me, dateId)).toEqual([1, 7, 2]);
  const mails = await rowsOf(
    me,
    'select u.email, purpose from outbox join course_users u on u.id = user_id where outbox.provider_id = $1 order by 1',
  );
  expect(mails).toEqual(['moe', 'vik'].map((name) => ({ email: `${name}@people.example`, purpose: 'swap' })));
  expect(await swaps(me, cursor)).toBe(2);

  const again = await anyone.post(url, fieldsOf([[ids[0]!, named('Other')]]));
  expect([again.status, main(again)]).toEqual([200, expect.stringContaining('|Nothing was changed: ')]);
  expect([await swaps(me, cursor), main(again)]).toEqual([2, expect.not.stringContaining('Other')]);
  expect(await writersOf(me)).toEqual([{ actor: 'server', action: 'POST /my/booking/:token' }]);
});

test('two forms at once name a place once', async () => {
  const { me, url, ids } = await group(1);
  const cursor = await newestEvent(me);
  const answers = await Promise.all(['Vik', 'Moe'].map((name) => anyone.post(url, fieldsOf([[ids[0]!, named(name)]]))));
  expect(answers.map((answer) => main(answer).includes('|One participant is named.|')).sort()).toEqual([false, true]);
  expect([await swaps(me, cursor), await rowsOf(me, 'select purpose from outbox where provider_id = $1')]).toEqual([
    1,
    [{ purpose: 'swap' }],
  ]);
});

test('the payer names no place of another booking, of another school, or that is over', async () => {
  const mine = await group(1);
  const sibling = await bookOrFail(mine.me, mine.dateId, { ...booker, participants: undefined, places: 1 });
  const stranger = await group(1);
  const theirs = fieldsOf([
    [sibling.participants[0]!.id, named('Vik')],
    [stranger.ids[0]!, named('Vik')],
  ]);
  expect((await anyone.post(mine.url, theirs)).status).toBe(400);
  await anyone.post(mine.url, { ...theirs, ...fieldsOf([[mine.ids[0]!, named('Moe')]]) });
  for (const { me } of [mine, stranger])
    expect(await rowsOf(me, `select from course_users where provider_id = $1 and lastname = 'Vik'`)).toEqual([]);

  await forced(stranger.me, `update course_dates set status_id = 3 where id = ${stranger.dateId}`);
  const canceled = await anyone.post(stranger.url, fieldsOf([[stranger.ids[0]!, named('Moe')]]));
  expect([canceled.status, main(canceled)]).toEqual([
    200,
    expect.stringContaining('|No name yet|Canceled by the school|'),
  ]);
});

test('a form with faults is shown again, and names nobody', async () => {
  const { url, ids, me } = await group(2);
  const blank = { firstname: ' ', lastname: '', email: '' };
  const empty = await anyone.post(url, fieldsOf([[ids[0]!, blank]]));
  expect([empty.status, main(empty)]).toEqual([400, expect.stringContaining('|Fill in at least one place.|')]);
  const long = { firstname: 'a'.repeat(256), lastname: '', email: 'kari' };
  const { status, text } = await anyone.post(
    url,
    fieldsOf([
      [ids[0]!, long],
      [ids[1]!, named('"Vik')],
    ]),
  );
  expect([status, /<title>(.*?)<\/title>/.exec(text)![1]]).toEqual([400, 'Not saved: Your booking – Øystese kurs']);
  for (const part of [
    'Write the first name',
    'Write the last name',
    'Write an e-mail address',
    'value="&quot;Vik"',
    'value="kari"',
  ])
    expect(text).toContain(part);
  expect(await rowsOf(me, 'select purpose from outbox where provider_id = $1')).toEqual([]);
});

test('a group of many is named ten at a time', async () => {
  const { me, url, ids } = await group(12);
  const { text } = await anyone.get(url);
  expect(text.match(/type="email"/g)).toHaveLength(10);
  const all = fieldsOf(ids.slice(0, 11).map((id, n) => [id, named(`Vik${n}`)]));
  expect((await anyone.post(url, all)).status).toBe(400);
  expect(await rowsOf(me, `select from course_users where provider_id = $1 and not is_placeholder`)).toEqual([]);
  const ten = fieldsOf(ids.slice(0, 10).map((id, n) => [id, named(`Vik${n}`)]));
  expect(main(await anyone.post(url, ten))).toContain('|10 participants are named.|');
});

test('naming places mails one recipient 5 times, under all its names and with other forms', async () => {
  const { me, url, ids, bookingId } = await group(10, { capacityMax: 20 });
  const tagged = (n: number) => ({ ...named(`Vik${n}`), email: `Victim+${n}@people.example` });
  expect((await anyone.post(url, fieldsOf(ids.map((id, n) => [id, tagged(n)])))).status).toBe(200);
  const mails = async () => (await rowsOf(me, 'select purpose from outbox where provider_id = $1')).length;
  expect(await mails()).toBe(5);
  await forced(me, `update bookings set booker_email = 'victim@people.example' where id = ${bookingId}`);
  const link = await me.post(`/v2/booking/${bookingId}/link`, {});
  expect([link.status, link.headers['retry-after'], link.json().errors[0].code, await mails()]).toEqual([
    ...[429, '3600', 'too_many_mails', 5],
  ]);
  await me.put('/v2/booking-settings', { self_cancellation: true });
  const path = `${url}/cancel/${ids[0]}`;
  expect((await anyone.post(path, readFormFields(await anyone.get(path)))).status).toBe(200);
  expect(await mails()).toBe(5);
});

test('credits and difference orders count into the amounts', async () => {
  const { me, url, summary } = await payer({});
  for (const [kind, first, total] of [
    ['difference', summary.order_id, 500],
    ['credit', `(select max(id) from orders where provider_id = $1)`, -2000],
  ])
    await forced(
      me,
      `insert into orders (provider_id, title, kind, first_order_id, total_before_discounts, created_at, updated_at)
        select provider_id, title, '${kind}', ${first}, ${total}, now(), now() from orders where id = ${summary.order_id}`,
    );
  expect(main(await anyone.get(url))).toContain(
    '|Price with VAT|-NOK 500.00|Credited|NOK 2,000.00|Paid|NOK 0.00|You get back|NOK 500.00|',
  );
});

test.each(['booking', 'offer'] as const)('an unknown or ended link of a %s is one and the same page', async (kind) => {
  const { me, dateId, id, bookingId } = await offered();
  const to = kind === 'booking' ? { bookingId } : { bookingId, participantId: id };
  const replaced = await createLinkToken(me, to);
  const token = await createLinkToken(me, to);
  const other = await createLinkToken(me, kind === 'booking' ? { bookingId, participantId: id } : { bookingId });
  const { id: strangerId } = await createProvider();
  const secret = token!.slice(token!.indexOf('_'));
  const pages: unknown[] = [];
  const visit = async (text: string | undefined) => {
    for (const send of [() => anyone.get(`/my/${kind}/${text}`), () => accept(`/my/${kind}/${text}`)]) {
      const response = await send();
      pages.push([response.status, response.text]);
    }
  };
  for (const wrong of ['none', '%', replaced, other, `${strangerId}${secret}`, `${me.id}_${'A'.repeat(43)}`])
    await visit(wrong);
  expect((await anyone.get(`/my/${kind}/${token}`)).status).toBe(200);
  await forced(
    me,
    `update course_dates set start_at = '2020-01-01', end_at = '2020-01-01', deadline_at = '2020-01-01' where id = ${dateId}`,
  );
  await visit(token);
  expect(pages[0]).toEqual([410, expect.stringContaining('This link no longer works')]);
  expect(pages).toEqual(pages.map(() => pages[0]));
});

test('an offer is accepted once; a second answer changes nothing', async () => {
  const { me, url, id, dateId } = await offered();
  await forced(me, `update participants set held_until = '2030-06-01 12:30+02' where id = ${id}`);
  const cursor = await newestEvent(me);
  const open = await anyone.get(url);
  expect([open.status, main(open)]).toEqual([200, expect.stringContaining('|Knots|A place is held for you|When|')]);
  expect(main(open)).toContain('|Answer by|Saturday 1 June 2030,|12:30|');
  expect(open.text).not.toContain('meet.example');

  for (const answer of [accept, accept, decline]) {
    const response = await answer(url);
    expect([response.status, main(response)]).toEqual([200, expect.stringContaining('|Knots|You have a place|When|')]);
    expect(response.text).toContain('meet.example');
    expect(response.text).not.toContain('<form');
  }
  expect([await statusesOnDate(me, dateId), await offerEvents(me, cursor)]).toEqual([[4, 1], ['offer.accepted']]);
  expect(await writersOf(me)).toEqual([{ actor: 'course_user', action: 'POST /my/offer/:token' }]);
});

test('an offer names the price of the place beside its buttons to the person who pays it', async () => {
  const { me, url, dateId } = await offered(1, { capacityWait: 20 });
  const priced =
    '|The place costs NOK 1,000.00 with VAT. If you accept it, you are bound to pay what is not paid yet.|Accept the place|';
  expect(main(await anyone.get(url))).toContain(priced);
  const change = (values: Partial<typeof products.$inferInsert>) =>
    write(me, (tx) => tx.update(products).set(values).where(eq(products.providerId, me.id)));
  await change({ vatPercentage: '25' });
  const of = async (fields: Record<string, unknown>) => {
    const { participants: one, booking_id } = await bookOrFail(me, dateId, {
      config: { waiting_list_when_full: 1 },
      ...fields,
    });
    const participantId = one.at(-1)!.id;
    await forced(
      me,
      `update participants set held_for = 'offer', held_until = now() + interval '1 day', status_id = 7 where id = ${participantId}`,
    );
    const link = await createLinkToken(me, { bookingId: Number(booking_id), participantId });
    return main(await anyone.get(`/my/offer/${link}`));
  };
  expect(await of({ participants: persons(2) })).toContain('|The place costs NOK 1,250.00 with VAT.');
  const own = person();
  expect(await of({ participants: [own], booker_name: 'Kari', booker_email: own.email.toUpperCase() })).toContain(
    '1,250.00',
  );
  const others = await of({ booker_name: 'Boss', booker_email: 'boss@firm.example' });
  expect(others).toContain('|The place is paid by the one who booked it.|Accept the place|');
  expect(others).not.toContain('1,250');
  await change({ price: '0' });
  expect(await of({})).toContain('|The place is free of charge.|Accept the place|');
});

test('a declined offer goes to the next person', async () => {
  const { me, url, dateId } = await offered(2);
  const declined = await decline(url);
  expect([declined.status, main(declined)]).toEqual([
    200,
    expect.stringContaining('|Knots|You have declined the place.|You are on the waiting list|'),
  ]);
  expect(await statusesOnDate(me, dateId)).toEqual([4, 3, 7]);
  for (const response of [await decline(url), await accept(url), await anyone.get(url)])
    expect([response.status, main(response)]).toEqual([
      410,
      expect.stringContaining('|The offer of a place is no longer open.|'),
    ]);
  expect(await statusesOnDate(me, dateId)).toEqual([4, 3, 7]);
});

test('an offer whose time is over is closed before a worker has ended it', async () => {
  const { me, url, id, dateId } = await offered();
  await forced(me, `update participants set held_until = clock_timestamp() - interval '1 second' where id = ${id}`);
  for (const response of [await anyone.get(url), await accept(url)])
    expect([response.status, main(response)]).toEqual([
      410,
      expect.stringMatching(/^\|Knots\|The offer of a place is no longer open\./),
    ]);
  await endDueHoldsOfSchool(database, me.id);
  expect(main(await anyone.get(url))).toContain('|A place is held for you|');
  await forced(me, `update participants set held_until = clock_timestamp() - interval '1 second' where id = ${id}`);
  await endDueHoldsOfSchool(database, me.id);
  expect(main(await accept(url))).toContain('|You are deregistered|');
  expect(await statusesOnDate(me, dateId)).toEqual([4, 4]);
});

test('an offer of a canceled date is closed', async () => {
  const { me, url, dateId } = await offered();
  await forced(me, `update course_dates set status_id = 3 where id = ${dateId}`);
  for (const response of [await anyone.get(url), await accept(url)]) expect(response.status).toBe(410);
  expect(await statusesOnDate(me, dateId)).toEqual([4, 7]);
});

test('another person on the place gets the offer by another mail, and the link before ends', async () => {
  const { me, url, id } = await offered();
  expect((await me.put(`/v2/participants/${id}`, { user: person() })).status).toBe(200);
  expect((await accept(url)).status).toBe(410);
  const mails =
    'select purpose, p.user_id is not null as "isNew" from outbox o left join participants p using (provider_id, user_id) where provider_id = $1 order by o.id';
  expect(await rowsOf(me, mails)).toEqual(
    [
      ['offer', false],
      ['swap', true],
      ['swap', false],
      ['offer', true],
    ].map(([purpose, isNew]) => ({ purpose, isNew })),
  );
});

test('a form of another site, and an answer that is none, change nothing', async () => {
  const { me, url, dateId } = await offered();
  const [origin, site] = [{ origin: 'https://evil.example' }, { 'sec-fetch-site': 'cross-site' }];
  for (const headers of [origin, site])
    expect((await anyone.post(url, { answer: 'accept' }, headers)).status).toBe(403);
  expect((await anyone.post(url, { answer: 'yes' })).status).toBe(400);
  expect((await anyone.request('PUT', url)).status).toBe(405);
  expect((await anyone.request('HEAD', url)).status).toBe(200);
  expect(await statusesOnDate(me, dateId)).toEqual([4, 7]);
});

test.each(['https://evil.example', 'Kari WWW.evil.example'])(
  'a name that could be a link is refused: %s',
  async (firstname) => {
    const { me, url, ids } = await group(1);
    const [id] = ids;
    const named = { [`firstname_${id}`]: firstname, [`lastname_${id}`]: 'Nordmann', [`email_${id}`]: 'a@b.example' };
    expect((await anyone.post(url, named)).status).toBe(400);
    expect(
      await rowsOf(me, 'select firstname from course_users where provider_id = $1 and firstname is not null'),
    ).toEqual([]);
    const valid = await anyone.post(url, { ...named, [`firstname_${id}`]: 'Kari' });
    expect([
      valid.status,
      await rowsOf(me, 'select firstname from course_users where provider_id = $1 and firstname is not null'),
    ]).toEqual([200, [{ firstname: 'Kari' }]]);
  },
);
