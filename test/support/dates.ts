import { and, eq } from 'drizzle-orm';
import {
  bundles,
  courseDateInstructors,
  courseDates,
  gatheringInstructors,
  gatherings,
} from '../../src/database/tables/coursedates.ts';
import { bookings, orders } from '../../src/database/tables/orders.ts';
import { participants } from '../../src/database/tables/participants.ts';
import { adminMemberships, adminUsers } from '../../src/database/tables/people.ts';
import { instructors, locations } from '../../src/database/tables/places.ts';
import { courseUsers } from '../../src/database/tables/users.ts';
import { write } from './orders.ts';
import type { Provider } from './test-app.ts';

type ColumnValues<T extends { $inferInsert: object }> = Partial<T['$inferInsert']>;

/** Rows that no endpoint creates; each helper returns the new id. */
const idOf = (rows: { id: number }[]) => rows[0]!.id;

let created = 0;

export const addDate = (me: Provider, courseId: number, values: ColumnValues<typeof courseDates> = {}) =>
  write(me, async (tx, now) => {
    const { startAt = '2030-06-10' } = values;
    const days = { startAt, endAt: startAt, deadlineAt: startAt, zone: values.timezone ?? 'Europe/Oslo' };
    const row = { ...days, teachingLanguageId: 'no', createdAt: now, updatedAt: now, ...values };
    return idOf(
      await tx
        .insert(courseDates)
        .values({ ...row, providerId: me.id, courseId })
        .returning({ id: courseDates.id }),
    );
  });

export const changeDate = (me: Provider, id: number, values: ColumnValues<typeof courseDates>) =>
  write(me, (tx) =>
    tx
      .update(courseDates)
      .set(values)
      .where(and(eq(courseDates.providerId, me.id), eq(courseDates.id, id))),
  );

export const addBundle = (me: Provider, title: string) =>
  write(me, async (tx, now) =>
    idOf(
      await tx
        .insert(bundles)
        .values({ providerId: me.id, title, createdAt: now, updatedAt: now })
        .returning({ id: bundles.id }),
    ),
  );

export const addLocation = (me: Provider, values: ColumnValues<typeof locations> = {}) =>
  write(me, async (tx, now) =>
    idOf(
      await tx
        .insert(locations)
        .values({ createdAt: now, updatedAt: now, ...values, providerId: me.id })
        .returning({ id: locations.id }),
    ),
  );

export const addInstructor = (me: Provider, values: ColumnValues<typeof instructors> = {}) =>
  write(me, async (tx, now) =>
    idOf(
      await tx
        .insert(instructors)
        .values({
          firstname: 'Kari',
          lastname: 'Nordmann',
          createdAt: now,
          updatedAt: now,
          ...values,
          providerId: me.id,
        })
        .returning({ id: instructors.id }),
    ),
  );

export const assignInstructor = (me: Provider, courseDateId: number, instructorId: number) =>
  write(me, (tx) => tx.insert(courseDateInstructors).values({ providerId: me.id, courseDateId, instructorId }));

export const addGathering = (
  me: Provider,
  courseDateId: number,
  values: ColumnValues<typeof gatherings> = {},
  instructorIds: number[] = [],
) =>
  write(me, async (tx, now) => {
    const times = { gatheringAt: '2030-06-10 09:00', gatheringEndAt: '2030-06-10 11:30', zone: 'Europe/Oslo' };
    const row = { ...times, createdAt: now, updatedAt: now, ...values, providerId: me.id, courseDateId };
    const gatheringId = idOf(await tx.insert(gatherings).values(row).returning({ id: gatherings.id }));
    for (const instructorId of instructorIds) {
      await tx.insert(gatheringInstructors).values({ providerId: me.id, gatheringId, instructorId });
    }
    return gatheringId;
  });

/** Participants of these statuses in one booking; triggers count their seats. */
export const addParticipants = (me: Provider, courseId: number, courseDateId: number, statuses: number[]) =>
  write(me, async (tx, now) => {
    const common = { providerId: me.id, createdAt: now, updatedAt: now };
    const orderId = idOf(
      await tx
        .insert(orders)
        .values({ ...common, title: 'Order' })
        .returning({ id: orders.id }),
    );
    const bookingId = idOf(
      await tx
        .insert(bookings)
        .values({ ...common, orderId, courseDateId })
        .returning({ id: bookings.id }),
    );
    const users = await tx
      .insert(courseUsers)
      .values(statuses.map(() => ({ ...common, username: `user-${process.pid}-${(created += 1)}` })))
      .returning({ id: courseUsers.id });
    const rows = statuses.map((statusId, n) => ({
      ...{ ...common, bookingId, courseId, courseDateId, statusId, statusUpdatedAt: now },
      userId: users[n]!.id,
      entrySource: 'School' as const,
    }));
    await tx.insert(participants).values(rows);
  });

export const addAdminUser = (me: Provider) =>
  write(me, async (tx, now) => {
    const person = {
      email: `admin-${process.pid}-${(created += 1)}@x.example`,
      createdAt: now,
    };
    const adminUserId = idOf(await tx.insert(adminUsers).values(person).returning({ id: adminUsers.id }));
    await tx
      .insert(adminMemberships)
      .values({ providerId: me.id, adminUserId, firstname: 'A', lastname: 'B', createdAt: now, updatedAt: now });
    return adminUserId;
  });

/** Ids of a municipality from the reference data and of its county. */
export async function findMunicipality(me: Provider, title: string) {
  const { places } = await import('../../src/database/tables/places.ts');
  const ctx = await me.ctx();
  const found = await ctx.db
    .select({ id: places.id, parentId: places.parentId })
    .from(places)
    .where(eq(places.title, title));
  return found.find(({ parentId }) => parentId !== null)!;
}

/** The day so many days from now, in UTC. */
export const isoDay = (days: number) => new Date(Date.now() + days * 86_400_000).toISOString().slice(0, 10);
