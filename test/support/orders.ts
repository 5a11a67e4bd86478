import { eq } from 'drizzle-orm';
import { campaignCourses, campaignCustomers, campaigns, campaignTags } from '../../src/database/tables/campaigns.ts';
import { courseDates, gatherings } from '../../src/database/tables/coursedates.ts';
import { courses, products } from '../../src/database/tables/courses.ts';
import { customers } from '../../src/database/tables/customers.ts';
import { bookings, orderLines, orders } from '../../src/database/tables/orders.ts';
import { attendances, orderLineParticipants, participants } from '../../src/database/tables/participants.ts';
import { locations, places } from '../../src/database/tables/places.ts';
import { courseUsers } from '../../src/database/tables/users.ts';
import { detailedOrderTitle } from '../../src/core/date-format.ts';
import { agreedTotals } from '../../src/domains/orders/orders/price-service.ts';
import type { Tx } from '../../src/database/client.ts';
import { allAreas } from '../../src/database/areas.ts';
import type { Provider, TestApp } from './test-app.ts';

let created = 0;

/** Writes rows under the provider's lock with its timestamp, as services do. */
export const write = async <T>(me: Provider, work: (tx: Tx, now: string) => Promise<T>) =>
  (await me.ctx()).write(allAreas, ({ tx, now }) => work(tx, now));
type Timestamps = { createdAt: string; updatedAt: string };
const writeRows = <T>(me: Provider, work: (tx: Tx, own: { providerId: number } & Timestamps) => Promise<T>) =>
  write(me, (tx, now) => work(tx, { providerId: me.id, createdAt: now, updatedAt: now }));

type Fields<T extends { $inferInsert: object }> = Partial<T['$inferInsert']>;

export const createCustomer = (me: Provider, fields: Fields<typeof customers> = {}) =>
  writeRows(me, async (tx, own) => {
    const values = { title: `Customer ${(created += 1)}`, ...own, ...fields };
    return (await tx.insert(customers).values(values).returning({ id: customers.id }))[0]!.id;
  });

export const createUser = (me: Provider, fields: Fields<typeof courseUsers> = {}) =>
  writeRows(me, async (tx, own) => {
    const values = { username: `user-${(created += 1)}`, ...own, ...fields };
    return (await tx.insert(courseUsers).values(values).returning({ id: courseUsers.id }))[0]!.id;
  });

export const createLocation = (me: Provider, fields: Fields<typeof locations> = {}) =>
  writeRows(
    me,
    async (tx, own) =>
      (
        await tx
          .insert(locations)
          .values({ ...own, ...fields })
          .returning({ id: locations.id })
      )[0]!.id,
  );

/** Titles of places are unique across schools, and workers share a database. */
export const createPlace = (testApp: TestApp, title = `Place ${process.pid}-${(created += 1)}`) =>
  testApp.database.writeShared(async ({ tx, now }) => {
    const values = { title, country: 'NO', createdAt: now, updatedAt: now };
    return (await tx.insert(places).values(values).returning({ id: places.id }))[0]!.id;
  });

export const createCourseDate = (me: Provider, courseId: number, fields: Fields<typeof courseDates> = {}) =>
  writeRows(me, async (tx, own) => {
    const days = { startAt: '2026-07-01', endAt: '2026-07-02', deadlineAt: '2026-06-24' };
    const values = { ...days, zone: 'Europe/Oslo', teachingLanguageId: 'no', ...own, ...fields, courseId };
    return (await tx.insert(courseDates).values(values).returning({ id: courseDates.id }))[0]!.id;
  });

export const createGathering = (me: Provider, courseDateId: number, day = '2026-07-01') =>
  writeRows(me, async (tx, own) => {
    const times = { gatheringAt: `${day} 09:00`, gatheringEndAt: `${day} 15:00`, zone: 'Europe/Oslo' };
    const values = { ...own, ...times, courseDateId };
    return (await tx.insert(gatherings).values(values).returning({ id: gatherings.id }))[0]!.id;
  });

export const createAttendance = (
  me: Provider,
  participantId: number,
  gatheringId: number,
  fields: Fields<typeof attendances> = {},
) => write(me, (tx) => tx.insert(attendances).values({ providerId: me.id, participantId, gatheringId, ...fields }));

export const createCampaign = (
  me: Provider,
  fields: Fields<typeof campaigns> = {},
  named: { courses?: number[]; customers?: number[]; tags?: number[] } = {},
) =>
  writeRows(me, async (tx, own) => {
    const values = {
      type: 'Campaign' as const,
      discountType: 'Percent' as const,
      discountValue: '10',
      ...own,
      ...fields,
    };
    const [campaign] = await tx.insert(campaigns).values(values).returning({ id: campaigns.id });
    const { id: campaignId } = campaign!;
    const { providerId } = own;
    for (const courseId of named.courses ?? [])
      await tx.insert(campaignCourses).values({ providerId, campaignId, courseId });
    for (const customerId of named.customers ?? [])
      await tx.insert(campaignCustomers).values({ providerId, campaignId, customerId });
    for (const tagId of named.tags ?? []) await tx.insert(campaignTags).values({ providerId, campaignId, tagId });
    return campaignId;
  });

/** The product created with a course, or another one. */
export const mainProduct = (me: Provider, courseId: number) =>
  write(me, async (tx) => {
    const [found] = await tx.select().from(products).where(eq(products.courseId, courseId));
    return found!.id;
  });
export const createProduct = (me: Provider, courseId: number, fields: Fields<typeof products> = {}) =>
  writeRows(me, async (tx, own) => {
    const values = { title: `Product ${(created += 1)}`, ...own, ...fields, courseId };
    return (await tx.insert(products).values(values).returning({ id: products.id }))[0]!.id;
  });

type Line = { productId: number } & Fields<typeof orderLines>;

/** An order as a booking creates it; by default one line of the course's product for all participants. */
export async function createOrder(
  me: Provider,
  spec: {
    courseId: number;
    dateId?: number;
    users?: number[];
    lines?: Line[];
    order?: Fields<typeof orders>;
    booking?: Fields<typeof bookings>;
    participant?: Fields<typeof participants>;
    place?: string;
  },
) {
  const { courseId, users = [await createUser(me)], order = {}, booking = {}, participant = {} } = spec;
  const dateId = spec.dateId ?? (await createCourseDate(me, courseId));
  const quantity = Math.max(1, users.length);
  const input = spec.lines ?? [{ productId: await mainProduct(me, courseId) }];
  const lines = input.map((line) => ({
    quantity,
    priceAtOrder: '1000',
    discountCalculatedAtOrder: '0',
    vatPercentage: '0',
    ...line,
  }));
  return writeRows(me, async (tx, own) => {
    const { providerId } = own;
    const [course] = await tx.select().from(courses).where(eq(courses.id, courseId));
    const [date] = await tx.select().from(courseDates).where(eq(courseDates.id, dateId));
    const titleDetailed = detailedOrderTitle(date!.startAt, date!.endAt, spec.place ?? null);
    const [inserted] = await tx
      .insert(orders)
      .values({ ...own, title: '', titleDetailed, ...agreedTotals(lines), ...order })
      .returning({ id: orders.id });
    const orderId = inserted!.id;
    await tx
      .update(orders)
      .set({ title: `${course!.title} #${orderId}` })
      .where(eq(orders.id, orderId));
    const [booked] = await tx
      .insert(bookings)
      .values({ ...own, ...booking, orderId, courseDateId: dateId })
      .returning({ id: bookings.id });
    const bookingId = booked!.id;
    const seat = { statusUpdatedAt: own.createdAt, entrySource: 'User' as const };
    const participantIds: number[] = [];
    for (const userId of users) {
      const values = { ...own, ...seat, ...participant, bookingId, courseId, courseDateId: dateId, userId };
      const [created] = await tx.insert(participants).values(values).returning({ id: participants.id });
      participantIds.push(created!.id);
    }
    const lineIds: number[] = [];
    for (const line of lines) {
      const values = { ...own, ...line, orderId };
      const [created] = await tx.insert(orderLines).values(values).returning({ id: orderLines.id });
      lineIds.push(created!.id);
      for (const participantId of participantIds)
        await tx.insert(orderLineParticipants).values({ providerId, orderLineId: created!.id, participantId });
    }
    return { orderId, bookingId, lineIds, participantIds, dateId, users, courseTitle: course!.title };
  });
}
