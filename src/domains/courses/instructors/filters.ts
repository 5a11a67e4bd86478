import { and, eq, isNull, sql } from 'drizzle-orm';
import { t } from '../../../core/schema/types.ts';
import type { Ctx } from '../../../database/context.ts';
import {
  courseDateInstructors as ofDates,
  courseDates,
  gatheringInstructors as ofGatherings,
  gatherings,
} from '../../../database/tables/coursedates.ts';
import { filter } from '../../../lists/filters.ts';
import { sameTenant, tenantWhere } from '../../../lists/tenant-scope.ts';

/** Dates that the instructor is named for, or for one of their gatherings. */
function isTaughtBy({ db, ...ctx }: Ctx, instructorId: number) {
  const whole = db
    .select({ id: ofDates.courseDateId })
    .from(ofDates)
    .where(tenantWhere(ctx, ofDates, eq(ofDates.instructorId, instructorId)));
  const gathered = db
    .select({ id: gatherings.courseDateId })
    .from(ofGatherings)
    .innerJoin(gatherings, sameTenant(gatherings, ofGatherings, eq(gatherings.id, ofGatherings.gatheringId)))
    .where(
      and(
        tenantWhere(ctx, ofGatherings, eq(ofGatherings.instructorId, instructorId)),
        tenantWhere(ctx, gatherings, isNull(gatherings.deletedAt)),
      ),
    );
  return sql`${courseDates.id} = any(array(${whole.union(gathered)}))`;
}

/** Filter of course dates by an instructor. */
export const taughtBy = filter.indexed(
  { ...t.Id, description: 'Only dates with this instructor, for the date or one of its gatherings; all unless sent' },
  {},
  (id, ctx) => isTaughtBy(ctx, id),
);
