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

/** The first attempt of each mail: the mail server took them and died before its reply. */
async function loseReplies(testApp: TestApp) {
  const count = (await readOutbox(testApp)).length;
  const server = await faultyServer(Array<Fault>(count).fill({ stage: 'end', action: 'dies' }));
  const { stop } = startWorker(testApp, { to: withoutLimits(server.url) });
  await eventually(async () =>
    expect((await readOutbox(testApp)).every(({ last_error }) => last_error !== null)).toBe(true),
  );
  return { server, stop };
}

/** The pages of the links of two copies of each mail, in the order in which the mails were queued. */
async function repeatMails(testApp: TestApp) {
  const { server, stop } = await loseReplies(testApp);
  await makeDue(testApp);
  await allSent(testApp);
  await stop();
  const queued = server.accepted.toSorted((a, b) => a.messageId!.localeCompare(b.messageId!, 'en', { numeric: true }));
  const byMail = grouped(
    queued,
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

test('an earlier mail about an interest that is sent after a later one leaves the link of that', async () => {
  const testApp = await openMailTestApp();
  const me = await testApp.createProvider();
  const courseId = await me.course();
  const ask = () => askFor(me, courseId, { email: 'ida@interest.example' });
  await ask();
  const first = await deliverMails(testApp);
  expect((await ask()).status).toBe(202);
  const second = await deliverMails(testApp);
  await forced(me, 'update outbox set sent_at = null, due_at = now() where id = (select min(id) from outbox)');
  const again = await deliverMails(testApp);
  const pages = [first, second, again].map(([mail]) => toPage(mail!.text));
  expect(await statuses(testApp.app, pages)).toEqual([410, 200, 200]);
});

/** Statements that make each kind of mail outdated, so that it is dropped with its link, and valid again. */
const outdated = {
  invitation: [
    'update admin_memberships set detached_at = now() where admin_user_id = (select max(admin_user_id) from outbox)',
    'update admin_memberships set detached_at = null',
  ],
  account_created: [
    'update course_users set erased_at = now() where id = (select max(user_id) from outbox)',
    'update course_users set erased_at = null',
  ],
  booking_link: [
    `update bookings set booker_email = null where id in (select booking_id from outbox where purpose = 'booking_link')`,
    `update bookings set booker_email = '${booker.booker_email}' where booker_name is not null`,
  ],
  booking_receipt: [
    `update bookings set booker_email = null where id in (select booking_id from outbox where purpose = 'booking_receipt')`,
    `update bookings set booker_email = '${booker.booker_email}' where booker_name is not null`,
  ],
  offer: [
    `update participants set status_id = 3, held_for = null, held_until = null where held_for = 'offer'`,
    `update participants set status_id = 7, held_for = 'offer', held_until = now() + interval '1 day' where status_id = 3`,
  ],
};

test.each(Object.entries(outdated))(
  'the link of an outdated %s ends, although an attempt was received',
  async (...one) => {
    const [purpose, [change, undo]] = one as [string, [string, string]];
    const testApp = await openMailTestApp();
    const me = await testApp.createProvider();
    await queueLinks(me);
    await forced(me, `delete from outbox where purpose <> '${purpose}'`);
    const { server } = await loseReplies(testApp);
    const pages = server.accepted.map(({ text }) => toPage(text));
    expect(await statuses(testApp.app, pages)).toEqual([200]);
    await forced(me, change);
    await forced(me, `update outbox set due_at = now() where purpose = '${purpose}'`);
    await eventually(async () =>
      expect((await readOutbox(testApp)).map((mail) => mail.purpose)).not.toContain(purpose),
    );
    await forced(me, undo);
    expect(await statuses(testApp.app, pages)).toEqual([410]);
  },
);

test('a link that the reader of a first copy has used stays when the mail is dropped', async () => {
  const testApp = await openMailTestApp();
  const me = await testApp.createProvider();
  await queueLinks(me);
  const { dateId } = await createBookableDate(me);
  const { booking_id } = await bookOrFail(me, dateId, { ...booker, participants: undefined, places: 1 });
  const [place] = (await me.get(`/v2/participants?booking_id=${booking_id}`)).json<[{ id: number }]>();
  await forced(
    me,
    `delete from outbox where purpose not in ('offer', 'interest_confirmation');
      insert into outbox (provider_id, purpose, booking_id, participant_id, created_at, due_at)
        values (${me.id}, 'reminder', ${booking_id}, ${place.id}, now(), now())`,
  );
  const { server } = await loseReplies(testApp);
  const pages = server.accepted.map(({ text }) => toPage(text));
  const answers = {
    booking: {
      [`firstname_${place.id}`]: 'Kari',
      [`lastname_${place.id}`]: 'Li',
      [`email_${place.id}`]: 'k@li.example',
    },
    ...{ offer: { answer: 'accept' }, interest: { answer: 'confirm' } },
  };
  for (const [kind, answer] of Object.entries(answers)) {
    const page = pages.find((one) => one.startsWith(`/my/${kind}/`))!;
    expect((await visitor(testApp.app).post(page, answer)).status, kind).toBeLessThan(400);
  }
  const purposes = async () => (await readOutbox(testApp)).map(({ purpose }) => purpose);
  expect(await purposes()).toEqual(expect.arrayContaining(['offer', 'interest_confirmation', 'reminder']));
  await makeDue(testApp);
  await allSent(testApp);
  expect((await purposes()).filter((one) => /offer|interest|reminder/.test(one))).toEqual([]);
  expect(await statuses(testApp.app, pages)).toEqual([200, 200, 200]);
});
