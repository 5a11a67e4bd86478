import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import type { Client as Database } from 'pg';
import PostalMime from 'postal-mime';
import { SMTPServer } from 'smtp-server';
import type { MailPurpose } from '../../../src/database/tables/outbox.ts';
import type { Cleanup } from '../scenario.ts';
import type { Client } from './client.ts';

/** A mail server that takes every mail, and the ids of the mails in the order of their arrival. */
export async function startMailServer(run: Cleanup) {
  const mailIds: number[] = [];
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: ['STARTTLS'],
    onData(stream, _session, done) {
      text(stream)
        .then((raw) => PostalMime.parse(raw))
        .then(({ messageId }) => mailIds.push(Number(/-(\d+)@/.exec(messageId ?? '')?.[1])))
        .then(() => done(null, 'taken'), done);
    },
  });
  server.on('error', () => undefined);
  await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready));
  run.onCleanup(() => server.close());
  return { mailIds, url: `smtp://127.0.0.1:${(server.server.address() as AddressInfo).port}` };
}

type Ids = Record<
  'booking' | 'seated' | 'left' | 'offered' | 'canceled' | 'date' | 'full' | 'under' | 'course',
  number
>;

/** People and dates about which every mail is true. */
export async function createRecipients(client: Client, base: string, database: Database): Promise<Ids> {
  const create = async <T>(path: string, fields: object) => {
    const { status, text } = await client.post(`${base}${path}`, fields);
    if (status !== 201) throw new Error(`${path}: ${status} ${text}`);
    return JSON.parse(text) as T;
  };
  const { course_id: course } = await create<{ course_id: number }>('/v2/courses', {
    title: 'Knots',
    price_value: 100,
  });
  const addDate = async (fields: object = {}) => {
    const date = {
      start_at: '2035-06-10',
      end_at: '2035-06-11',
      deadline_at: '2035-06-01',
      capacity_max: 20,
      ...fields,
    };
    return (await create<{ coursedate_id: number }>(`/v2/courses/${course}/coursedates`, date)).coursedate_id;
  };
  const book = (coursedate_id: number, names: string[]) =>
    create<{ summary: { booking_id: string; participants: { id: number }[] } }>('/v2/booking', {
      ...{ coursedate_id, payment_method: 'invoice', booker_name: 'Ola', booker_email: 'ola@people.example' },
      participants: names.map((firstname) => ({
        ...{ firstname, lastname: 'Nordmann', email: `${firstname}@people.example` },
      })),
    }).then(({ summary }) => summary);
  const date = await addDate();
  const [canceledDate, full] = [await addDate(), await addDate({ capacity_max: 1 })];
  const under = await addDate({ capacity_min: 5 });
  const booking = await book(date, ['Kari', 'Per', 'Anne']);
  const canceled = await book(canceledDate, ['Siri']);
  await book(full, ['Odd']);
  await database.query('delete from outbox');
  const [seated, left, offered] = booking.participants.map(({ id }) => id) as [number, number, number];
  await database.query(`update participants set status_id = 4 where id = $1`, [left]);
  const offer = `update participants set status_id = 7, held_for = 'offer', held_until = '2035-01-01' where id = $1`;
  await database.query(offer, [offered]);
  await database.query('update course_dates set status_id = 3 where id = $1', [canceledDate]);
  const ids = { booking: Number(booking.booking_id), seated, left, offered };
  return { ...ids, canceled: canceled.participants[0]!.id, date, full, under, course };
}

const toPerson = (participant: keyof Ids) => (ids: Ids) => ({
  participant_id: ids[participant],
  user_id: `(select user_id from participants where id = ${ids[participant]})`,
});
const toDesk = (fields: (ids: Ids) => object) => (ids: Ids, n: number) => ({
  address: `'desk-${n}@school.example'`,
  ...fields(ids),
});
const user = toPerson('seated');

/** The values of a mail of each purpose, as SQL. */
const mails: Record<MailPurpose, (ids: Ids, n: number) => object> = {
  invitation: () => ({ admin_user_id: '(select min(admin_user_id) from admin_memberships)' }),
  account_created: (ids) => ({ user_id: user(ids).user_id }),
  receipt: user,
  deregistration: toPerson('left'),
  webhook_disabled: (_ids, n) => ({ webhook_id: `(select id from webhooks where description = 'disabled ${n}')` }),
  offer: toPerson('offered'),
  booking_link: ({ booking }) => ({ booking_id: booking }),
  swap: user,
  move: user,
  date_canceled: toPerson('canceled'),
  date_changed: user,
  promotion: user,
  reminder: user,
  booking_receipt: ({ booking }) => ({ booking_id: booking }),
  moved_away: (ids) => ({ ...user(ids), course_date_id: ids.under }),
  notice_booked: toDesk(({ seated }) => ({ participant_id: seated })),
  notice_canceled: toDesk(({ left }) => ({ participant_id: left })),
  notice_full: toDesk(({ full }) => ({ course_date_id: full })),
  notice_under_minimum: toDesk(({ under }) => ({ course_date_id: under })),
  notice_budget: toDesk(({ under }) => ({ course_date_id: under })),
  address_refused: (_ids, n) => ({
    refused_address_id: `(select id from refused_addresses where email = 'gone-${n}@people.example')`,
  }),
  interest_confirmation: (_ids, n) => toInterest(n, 'open'),
  date_published: ({ date }, n) => ({ ...toInterest(n, 'confirmed'), course_date_id: date }),
};

const toInterest = (n: number, name: string) => ({
  address: `'${name}-${n}@people.example'`,
  interest_id: `(select id from course_interests where email = '${name}-${n}@people.example')`,
});

/** Queues `rounds` mails of every kind of the first provider at once; returns their ids. */
export async function queueEveryMail(database: Database, ids: Ids, rounds: number) {
  const statements = [
    `update providers set email = 'school@school.example', email_admin = 'admin@school.example'`,
    `insert into admin_users (email, firstname, lastname, created_at)
      values ('staff@school.example', 'Åse', 'Ødegård', now()) on conflict do nothing`,
    `insert into admin_memberships (provider_id, admin_user_id, created_at, updated_at)
      select 1, id, now(), now() from admin_users on conflict do nothing`,
  ];
  const one = Array.from({ length: rounds }, (_, n) => n).flatMap((n) => [
    `insert into webhooks (provider_id, url, host, description, is_active, secret, position, position_clock, due_at,
        disabled_at, disabled_reason, created_at, updated_at)
      values (1, 'https://crm.example', 'crm.example', 'disabled ${n}', false, 'whsec', 1, 1, now(), now(), 'gone', now(), now())`,
    `insert into refused_addresses (provider_id, email, reason, refused_at) values (1, 'gone-${n}@people.example', '550', now())`,
    `insert into course_interests (provider_id, course_id, email, created_at, confirmed_at, notified_at, course_date_id)
      values (1, ${ids.course}, 'open-${n}@people.example', now(), null, null, null),
        (1, ${ids.course}, 'confirmed-${n}@people.example', now(), now(), now(), ${ids.date})`,
    ...Object.entries(mails).map(([purpose, toValues]) => {
      const values = Object.entries(toValues(ids, n));
      return `insert into outbox (provider_id, purpose, created_at, due_at, ${values.map(([name]) => name).join(', ')})
        values (1, '${purpose}', now(), now(), ${values.map(([, value]) => String(value)).join(', ')})`;
    }),
  ]);
  await database.query(['begin', ...statements, ...one, 'commit'].join(';\n'));
  const { rows } = await database.query<{ id: number; purpose: string }>('select id::int as id, purpose from outbox');
  return rows;
}
