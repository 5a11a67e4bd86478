import { and, asc, eq, inArray, isNotNull, isNull, or, sql } from 'drizzle-orm';
import { seatStatuses } from '../../../core/reference/statuses.ts';
import { inNameOrder } from '../../../database/tables/columns.ts';
import { gatherings } from '../../../database/tables/coursedates.ts';
import { attendances, attendedShareSql, participants } from '../../../database/tables/participants.ts';
import { courseUsers } from '../../../database/tables/users.ts';
import { batchLoader } from '../../../lists/loaders.ts';
import { sameTenant } from '../../../lists/tenant-scope.ts';

const { providerId, id, userId, statusId, completed, courseDateId } = participants;
const { firstname, lastname } = courseUsers;
const isOwn = sameTenant(attendances, participants, eq(attendances.participantId, participants.id));
const isRegistered = sql`exists (select from ${attendances} where ${isOwn})`;
/** True for a participant with registered attendance. */
export const hasAttended = sql<boolean>`exists (
  select from ${attendances} where ${and(isOwn, isNotNull(attendances.attended))})`;

/** The participants of a course date with a seat or with attendance, by name. */
export const fetchAttending = batchLoader((ctx, keys) =>
  ctx.db
    .select({ providerId, id, userId, statusId, completed, firstname, lastname })
    .from(participants)
    .innerJoin(courseUsers, sameTenant(courseUsers, participants, eq(courseUsers.id, userId)))
    .where(and(keys.match(participants, courseDateId), or(inArray(statusId, seatStatuses), isRegistered)))
    .orderBy(inNameOrder(lastname), inNameOrder(firstname), asc(id)),
);

const isOfParticipant = and(isOwn, sameTenant(attendances, gatherings, eq(attendances.gatheringId, gatherings.id)));

export const fetchAttendanceSummaries = batchLoader((ctx, keys) =>
  ctx.db
    .select({
      id: participants.id,
      share: sql<number | null>`${sql.raw(attendedShareSql('gatherings', 'attendances'))}::float8`,
      minutes: sql<number>`coalesce(sum(${attendances.minutes}) filter (where ${attendances.attended}), 0)::int`,
    })
    .from(participants)
    .leftJoin(
      gatherings,
      sameTenant(
        gatherings,
        participants,
        and(eq(gatherings.courseDateId, participants.courseDateId), isNull(gatherings.deletedAt)),
      ),
    )
    .leftJoin(attendances, isOfParticipant)
    .where(keys.match(participants, participants.id))
    .groupBy(participants.providerId, participants.id),
);

const { gatheringId, attended, minutes, registeredAt } = attendances;

export const fetchAttendances = batchLoader((ctx, keys) =>
  ctx.db
    .select({ ownerId: attendances.participantId, gatheringId, attended, minutes, registeredAt })
    .from(attendances)
    .where(keys.match(attendances, attendances.participantId))
    .orderBy(asc(gatheringId)),
);
