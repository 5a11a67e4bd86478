import { expect, test } from 'vitest';
import { grouped } from '../../../src/lists/relations.ts';
import { bookOrFail, createBookableDate, deregister, person } from '../../support/booking.ts';
import { faultyServer, type Fault } from '../../support/faulty-mail-server.ts';
import { askFor } from '../../support/interests.ts';
import {
  ageSentMails,
  allSent,
  deliverMails,
  eventually,
  extractToken,
  forced,
  invite,
  makeDue,
  openMailTestApp,
  readOutbox,
  startMailServer,
  startWorker,
  switchMails,
} from '../../support/mail.ts';
import { visitor } from '../../support/pages.ts';
import { limits, openTestDatabase, settings, type Provider } from '../../support/test-app.ts';
import { loadUnguarded } from '../../support/unguarded.ts';

type TestApp = Awaited<ReturnType<typeof openMailTestApp>>;

const password = 'Trampoline-7-Fjord';
const booker = { booker_name: 'Ola', booker_email: 'ola@payer.example' };
const kinds = ['password', 'booking', 'offer', 'interest'] as const;

/** Each kind of mail with a link. */
async function queueLinks(me: Provider) {
  await invite(me, 'staff@school.example');
  const { dateId } = await createBookableDate(me, { capacityMax: 1, capacityWait: 3, waitingMode: 'offer' });
  const account = { send_account_created_email_to_user: true, waiting_list_when_full: 1 };
  const seated = await bookOrFail(me, dateId, { ...booker, config: { send_link_email_to_booker: true } });
  const participants = [person({ email: 'kari@people.example' })];
  const waiting = await bookOrFail(me, dateId, { participants, config: account });
  await deregister(me, seated.booking_id);
  await switchMails(me, { booking_receipt: true });
  const { dateId: other } = await createBookableDate(me);
  await bookOrFail(me, other, booker);
  expect((await askFor(me, await me.course({ title: 'Knots' }), { email: 'ida@interest.example' })).status).toBe(202);
  return { bookingId: seated.booking_id, participantId: waiting.participants[0]!.id };
}

/** The server never hangs. */
const withoutLimits = (url: string) => url.split('?')[0]!;

/** The pages of the links of two copies of each mail: the mail server took the first ones and died before its reply. */
async function repeatMails(testApp: TestApp) {
  const count = (await readOutbox(testApp)).length;
  const server = await faultyServer(Array<Fault>(count).fill({ stage: 'end', action: 'dies' }));
  const { stop } = startWorker(testApp, { to: withoutLimits(server.url) });
  await eventually(async () =>
    expect((await readOutbox(testApp)).every(({ last_error }) => last_error !== null)).toBe(true),
  );
  await makeDue(testApp);
  await allSent(testApp);
  await stop();
  const byMail = grouped(
    server.accepted,
    ({ messageId }) => messageId,
    ({ text }) => toPage(text),
  );
  return [...byMail.values()];
}

function toPage(text = '') {
  const kind = kinds.find((one) => extractToken(text, one) !== '')!;
  return `/my/${kind}/${extractToken(text, kind)}`;
}

const statuses = (app: Parameters<typeof visitor>[0], pages: string[]) =>
  Promise.all(pages.map(async (page) => (await visitor(app).get(page)).status));

test('the links of both copies of a repeated mail are valid, and no stored value is one', async () => {
  const testApp = await openMailTestApp();
  const me = await testApp.createProvider();
  await queueLinks(me);
  const purposes = (await readOutbox(testApp)).map(({ purpose }) => purpose);
  expect(new Set(purposes)).toEqual(
    new Set(['invitation', 'account_created', 'booking_link', 'booking_receipt', 'offer', 'interest_confirmation']),
  );
  const mails = await repeatMails(testApp);
  expect(mails).toHaveLength(purposes.length);
  for (const pages of mails) {
    expect(new Set(pages).size, pages.join()).toBe(2);
    expect(await statuses(testApp.app, pages), pages.join()).toEqual([200, 200]);
  }
  const { rows } = await testApp.database.pool.query<{ stored: string }>(
    `select string_agg(t::text, '') as stored from tokens t union all select string_agg(l::text, '') from booking_links l
      union all select string_agg(i::text, '') from course_interests i union all select string_agg(o::text, '') from outbox o`,
  );
  const stored = rows.map((row) => row.stored).join('\n');
  const secrets = mails.flat().map((page) => page.split('_').slice(1).join('_'));
  expect(secrets.filter((secret) => stored.includes(secret))).toEqual([]);

  // Negative control: without the guard the first copy, which mail programs keep, has a dead link.
  const unguarded = await loadUnguarded(['earlierLinks']);
  // With connections of its own: prepared statements have other texts.
  const database = openTestDatabase(testApp.name);
  const app = await unguarded.buildApp({ database, settings, version: 'test', limits });
  for (const pages of mails)
    expect((await statuses(app, pages)).map((status) => status === 200)).toEqual([false, true]);
  await app.close();
  await database.close();
});

test('both copies of a password link end when one is used, and a later attempt is dropped', async () => {
  const testApp = await openMailTestApp();
  const me = await testApp.createProvider();
  await invite(me, 'staff@school.example');
  const [pages] = await repeatMails(testApp);
  expect((await visitor(testApp.app).post(pages![0]!, { password, repeated: password })).status).toBeLessThan(400);
  expect((await statuses(testApp.app, pages!)).filter((status) => status === 200)).toEqual([]);

  await forced(me, 'update outbox set sent_at = null, due_at = now()');
  const server = await startMailServer();
  const { log } = startWorker(testApp, { to: server.url });
  await eventually(async () => expect(await readOutbox(testApp)).toEqual([]));
  expect(log.at(-1)).toMatch(/is dropped: its link has ended in the meantime$/);
  expect(server.received).toEqual([]);
  expect((await statuses(testApp.app, pages!)).filter((status) => status === 200)).toEqual([]);
});

test('both copies of a link end when a later mail replaces it, and at a deletion', async () => {
  const testApp = await openMailTestApp();
  const me = await testApp.createProvider();
  const { bookingId, participantId } = await queueLinks(me);
  const pages = (await repeatMails(testApp)).filter(([page]) => !page!.startsWith('/my/password'));
  const ofKind = (kind: string) => pages.filter(([page]) => page!.startsWith(`/my/${kind}/`));
  const [offer, interest] = [ofKind('offer')[0]!, ofKind('interest')[0]!];
  const { user } = (await me.get(`/v2/participants/${participantId}`)).json<{ user: { id: number } }>();
  expect((await me.put(`/v2/course-users/${user.id}`, { email: 'new@people.example' })).status).toBe(200);
  expect(await statuses(testApp.app, offer)).toEqual([410, 410]);
  expect((await visitor(testApp.app).post(interest[0]!, { answer: 'end' })).status).toBeLessThan(400);
  expect(await statuses(testApp.app, interest)).toEqual([410, 410]);

  const { rows } = await testApp.database.pool.query<{ id: number }>(
    `select id from outbox where purpose = 'booking_link' and booking_id = $1`,
    [bookingId],
  );
  await ageSentMails(testApp);
  expect((await me.post(`/v2/mails/${rows[0]!.id}/resend`, {})).status).toBe(201);
  const [replaced] = ofKind('booking');
  await deliverMails(testApp);
  expect(await statuses(testApp.app, replaced!)).toEqual([410, 410]);
});

test('an earlier mail that is sent after a later one leaves the link of that', async () => {
  const testApp = await openMailTestApp();
  const me = await testApp.createProvider();
  const { dateId } = await createBookableDate(me);
  const { booking_id } = await bookOrFail(me, dateId, { ...booker, config: { send_link_email_to_booker: true } });
  const first = await deliverMails(testApp);
  expect((await me.post(`/v2/booking/${booking_id}/link`, {})).status).toBe(200);
  const second = await deliverMails(testApp);
  await forced(me, 'update outbox set sent_at = null, due_at = now() where id = (select min(id) from outbox)');
  const again = await deliverMails(testApp);
  const pages = [first, second, again].map(([mail]) => toPage(mail!.text));
  expect(await statuses(testApp.app, pages)).toEqual([410, 200, 200]);
});

test('an outdated mail of which an attempt has failed is dropped', async () => {
  const testApp = await openMailTestApp();
  const me = await testApp.createProvider();
  await queueLinks(me);
  const count = (await readOutbox(testApp)).length;
  const server = await faultyServer(Array<Fault>(count).fill({ stage: 'end', action: 'dies' }));
  startWorker(testApp, { to: withoutLimits(server.url) });
  await eventually(async () =>
    expect((await readOutbox(testApp)).every(({ last_error }) => last_error !== null)).toBe(true),
  );
  await forced(me, `update participants set held_for = null, held_until = null where held_for = 'offer'`);
  await makeDue(testApp);
  await allSent(testApp);
  expect((await readOutbox(testApp)).map(({ purpose }) => purpose)).not.toContain('offer');
});
