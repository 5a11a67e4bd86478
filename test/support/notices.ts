import { eq } from 'drizzle-orm';
import { providers } from '../../src/database/tables/providers.ts';
import { createBookableDate } from './booking.ts';
import { write } from './orders.ts';
import type { Provider, TestApp } from './test-app.ts';

type Fields = Record<string, unknown>;
type DateValues = NonNullable<Parameters<typeof createBookableDate>[1]>;

export const noticeSwitches = {
  notice_booked: true,
  notice_canceled: true,
  notice_full: true,
  notice_under_minimum: true,
  notice_budget: true,
};

export async function switchNotices(me: Provider, mails: Fields) {
  const response = await me.put('/v2/booking-settings', { mails });
  if (response.status !== 200) throw new Error(response.text);
}

export const setSchoolEmails = (
  me: Provider,
  values: Pick<Partial<typeof providers.$inferInsert>, 'email' | 'emailBooking'>,
) => write(me, (tx) => tx.update(providers).set(values).where(eq(providers.id, me.id)));

/** A location that sends notices to `hall@school.example`. */
export async function createNotifyingLocation(me: Provider, fields: Fields = {}) {
  const body = { title: 'The hall', email_booking: 'hall@school.example', is_notification_enabled: true, ...fields };
  const response = await me.post('/v2/locations', body);
  if (response.status !== 201) throw new Error(response.text);
  return response.json<{ id: number }>().id;
}

/** A date at a location that sends notices, of a school with all switches on. */
export async function createNotifiedDate(me: Provider, location: Fields = {}, date: DateValues = {}) {
  await switchNotices(me, noticeSwitches);
  const locationId = await createNotifyingLocation(me, location);
  return { locationId, ...(await createBookableDate(me, { locationId, ...date })) };
}

type QueuedNotice = {
  purpose: string;
  address: string | null;
  adminUserId: number | null;
  participantId: number | null;
  courseDateId: number | null;
};

/** The mails of a provider to the school, in the order of their creation. */
export async function readNotices({ database }: Pick<TestApp, 'database'>, me: Provider) {
  const { rows } = await database.pool.query<QueuedNotice>(
    `select purpose, address, admin_user_id as "adminUserId", participant_id as "participantId", course_date_id as "courseDateId"
    from outbox where provider_id = $1 and user_id is null and booking_id is null order by id`,
    [me.id],
  );
  return rows;
}
