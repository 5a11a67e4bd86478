import { eq, isNull } from 'drizzle-orm';
import { Problem } from '../../../core/errors.ts';
import { byName } from '../../../core/schema/types.ts';
import { formatTimestamp } from '../../../core/timestamps.ts';
import type { Database } from '../../../database/client.ts';
import type { Ctx } from '../../../database/context.ts';
import { auditedJob, runEach } from '../../../database/periodic.ts';
import { courseDates } from '../../../database/tables/coursedates.ts';
import { loadOne } from '../../../lists/response-budget.ts';
import { relation } from '../../../lists/relations.ts';
import { tenantWhere } from '../../../lists/tenant-scope.ts';
import { fetchGatherings } from '../../courses/gatherings/loaders.ts';
import { toGathering } from '../../courses/gatherings/fields.ts';
import type { AttendanceBody } from './body-schema.ts';
import { fetchAttendances, fetchAttending } from './loaders.ts';
import { loadAttendanceSummary } from './serializer.ts';
import type { AttendanceSheet, AttendanceWritten } from './schema.ts';
import * as sql from './sql.ts';

/** Stores marks of attendance, of which the newest of a participant and gathering stands. A repeated mark changes nothing. */
export const registerAttendance = (ctx: Ctx, id: number, { marks }: AttendanceBody): Promise<AttendanceWritten> =>
  ctx.write(['people'], async ({ tx, now }) => {
    const broken = marks.flatMap(({ attended, minutes = 0 }, n) =>
      minutes > 0 && attended !== true ? `marks[${n}].minutes` : [],
    );
    const rules = byName(broken, () => 'minutes_without_attendance' as const);
    if (broken.length > 0) throw Problem.invalidFields({ rules });
    await assertDate(ctx, tx, id);
    const target = { providerId: ctx.providerId, courseDateId: id, now };
    const rows = marks.map(({ participant_id, gathering_id, nonce, attended = null, minutes = null, at = null }) => ({
      ...{ participant: participant_id, gathering: gathering_id, nonce, attended, minutes, at },
    }));
    const results = await sql.storeMarks(tx, { ...target, marks: rows });
    const written = { coursedate_id: id, results };
    const isKept = results.some(({ result }) => result === 'stored' || result === 'older');
    if (!isKept) return tx.rollBack(written);
    const markedIds = results.flatMap((one) => (one.result === 'stored' ? one.participant_id : []));
    await sql.completeParticipants(tx, { ...target, markedIds });
    return written;
  });

const matchDate = (ctx: Ctx, id: number) =>
  tenantWhere(ctx, courseDates, eq(courseDates.id, id), isNull(courseDates.deletedAt));

async function assertDate(ctx: Ctx, reader: Pick<Ctx['db'], '$count'>, id: number) {
  if ((await reader.$count(courseDates, matchDate(ctx, id))) === 0) throw Problem.notFound('Course date');
}

/** Gatherings and participants of a course date with their attendance. */
export async function getAttendance(ctx: Ctx, id: number): Promise<AttendanceSheet> {
  await assertDate(ctx, ctx.db, id);
  const date = { providerIds: [ctx.providerId], ids: [id] };
  const load = async (budget: Ctx['budget']) => {
    const context = { ...ctx, budget };
    const gatherings = await fetchGatherings(context, date);
    const attending = await fetchAttending(context, date);
    const getAttendances = await loadAttendances(context, attending, {});
    const getSummary = await loadAttendanceSummary(context, attending, {});
    return {
      coursedate_id: id,
      gatherings: gatherings.map((row) => toGathering(row, { instructors: [] }, ctx)),
      participants: attending.map((row) => ({
        ...{ id: row.id, user_id: row.userId, firstname: row.firstname, lastname: row.lastname },
        ...{ status_id: row.statusId, completed: row.completed },
        ...getSummary(row),
        attendance: getAttendances(row),
      })),
    };
  };
  return loadOne(load, { id });
}

const loadAttendances = relation.hasMany(fetchAttendances, (row) => ({
  gathering_id: row.gatheringId,
  attended: row.attended,
  minutes: row.minutes,
  registered_at: formatTimestamp(row.registeredAt),
}));

/** Completes the participants of dates whose last gathering has ended. */
export async function completeCourses(database: Pick<Database, 'unlocked' | 'write'>) {
  await runEach(await sql.findDueDates(database.unlocked, {}), ({ providerId, courseDateId }) =>
    database.write([providerId], ['people'], async ({ tx, now }) => {
      tx.auditItem(courseDateId);
      const changed = await sql.completeParticipants.count(tx, { providerId, courseDateId, now, markedIds: [] });
      if (changed === 0) tx.rollBack();
    }),
  );
}

export const completionJob = auditedJob('The completion of courses', 'completion', 60_000, completeCourses);
