import { eq, sql } from 'drizzle-orm';
import { courseDates } from '../../../database/tables/coursedates.ts';
import { courses } from '../../../database/tables/courses.ts';
import { bookings } from '../../../database/tables/orders.ts';
import { participants } from '../../../database/tables/participants.ts';
import { locations, places } from '../../../database/tables/places.ts';
import { batchLoader } from '../../../lists/loaders.ts';
import { sameTenant } from '../../../lists/tenant-scope.ts';
import { locationColumns } from '../../courses/locations/fields.ts';
import { participantDateColumns } from './date-schema.ts';

const { orderId, bookerName, bookerEmail, bookerPhone, bookerLanguageId } = bookings;

export const fetchBookings = batchLoader((ctx, keys) =>
  ctx.db
    .select({ id: bookings.id, orderId, bookerName, bookerEmail, bookerPhone, bookerLanguageId })
    .from(bookings)
    .where(keys.match(bookings, bookings.id)),
);

const { title, reference, createdAt, updatedAt } = courses;

export const fetchCourses = batchLoader((ctx, keys) =>
  ctx.db
    .select({ id: courses.id, title, reference, createdAt, updatedAt })
    .from(courses)
    .where(keys.match(courses, courses.id)),
);

export const fetchCourseDates = batchLoader((ctx, keys) =>
  ctx.db
    .select({
      id: courseDates.id,
      date: participantDateColumns,
      location: locationColumns,
      place: places.title,
      week: sql<number>`extract(week from ${courseDates.startAt})::int`,
      offset: sql<number>`extract(epoch from timezone(${courseDates.zone}, ${courseDates.startsAt}) - timezone('UTC', ${courseDates.startsAt}))::int`,
    })
    .from(courseDates)
    .leftJoin(locations, sameTenant(locations, courseDates, eq(locations.id, courseDates.locationId)))
    .leftJoin(places, eq(places.id, courseDates.placeId))
    .where(keys.match(courseDates, courseDates.id)),
);

export const fetchParticipants = batchLoader((ctx, keys) =>
  ctx.db.select().from(participants).where(keys.match(participants, participants.id)),
);
