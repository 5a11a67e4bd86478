import { and, asc, eq, isNotNull } from 'drizzle-orm';
import { Client } from 'pg';
import { vouchers } from '../../src/database/tables/campaigns.ts';
import { courseDates } from '../../src/database/tables/coursedates.ts';
import { participants } from '../../src/database/tables/participants.ts';
import { addDate } from './dates.ts';
import { write } from './orders.ts';
import { connectionTo, type TestResponse, type Provider } from './test-app.ts';

type Fields = Record<string, unknown>;

let created = 0;
/** A unique person. */
export const person = (fields: Fields = {}) => {
  created += 1;
  return { firstname: 'Kari', lastname: `Nordmann ${created}`, email: `kari-${created}@people.example`, ...fields };
};
export const persons = (count: number, fields: Fields = {}) => Array.from({ length: count }, () => person(fields));

export const bookingBody = (coursedate_id: number, fields: Fields = {}) => ({
  coursedate_id,
  payment_method: 'invoice',
  participants: [person()],
  ...fields,
});

/** A bookable date of a new course. */
export async function createBookableDate(
  me: Provider,
  { course = {}, ...date }: { course?: Fields } & Parameters<typeof addDate>[2] = {},
) {
  const courseId = await me.course({ price_value: 1000, ...course });
  return { courseId, dateId: await addDate(me, courseId, date) };
}

export const book = (me: Provider, dateId: number, fields: Fields = {}, headers: Record<string, string> = {}) =>
  me.post('/v2/booking', bookingBody(dateId, fields), headers);

export type Summary = {
  order_id: string;
  booking_id: string;
  coursedate_id: string;
  currency: string;
  total_excl_vat: number;
  total_incl_vat: number;
  total_vat: number;
  number_of_participants: number;
  participants: { id: number; status_id: number }[];
};
/** Parses the response of a booking that must succeed. */
export function getSummary(response: TestResponse): Summary {
  if (response.status !== 201) throw new Error(`not booked: ${response.status} ${response.text}`);
  return response.json<{ summary: Summary }>().summary;
}
export const bookOrFail = async (...args: Parameters<typeof book>) => getSummary(await book(...args));
export const participantStatuses = (summary: Summary) => summary.participants.map(({ status_id }) => status_id);

/** Error codes in order; undefined for a success. */
export const errorCodes = (response: TestResponse) =>
  response.json<{ errors?: { code: string }[] }>().errors?.map(({ code }) => code);

export const deregister = (me: Provider, bookingId: number | string, fields: Fields = {}) =>
  me.put(`/v2/booking/${bookingId}/deregister`, fields);

/** The time of all open offers is over. */
export const endOffers = (me: Provider) =>
  write(me, (tx) =>
    tx
      .update(participants)
      .set({ heldUntil: '2020-01-01' })
      .where(and(eq(participants.providerId, me.id), isNotNull(participants.heldUntil))),
  );

export const statusesOnDate = (me: Provider, dateId: number) =>
  write(me, async (tx) => {
    const rows = await tx
      .select({ statusId: participants.statusId })
      .from(participants)
      .where(and(eq(participants.providerId, me.id), eq(participants.courseDateId, dateId)))
      .orderBy(asc(participants.id));
    return rows.map(({ statusId }) => statusId);
  });

/** Counters of a date: confirmed, overbooked, unconfirmed, waiting. */
export const seatCounters = (me: Provider, dateId: number) =>
  write(me, async (tx) => {
    const [row] = await tx
      .select()
      .from(courseDates)
      .where(and(eq(courseDates.providerId, me.id), eq(courseDates.id, dateId)));
    return [row!.numConfirmed, row!.numOverbooked, row!.numUnconfirmed, row!.numWaiting];
  });

export const createVoucher = (me: Provider, values: Partial<typeof vouchers.$inferInsert> & { amount: string }) =>
  write(me, async (tx, now) => {
    const own = { providerId: me.id, createdAt: now, updatedAt: now };
    const code = `V-${(created += 1)}`;
    const row = { code, balance: values.amount, ...own, ...values };
    const [voucher] = await tx.insert(vouchers).values(row).returning();
    return voucher!;
  });

/** Runs a statement without lock or guards, in a test's own database. */
export async function execute(database: string, statement: string) {
  const client = new Client(connectionTo(database));
  await client.connect();
  await client.query(statement).finally(() => client.end());
}
