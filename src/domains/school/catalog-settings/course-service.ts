import { eq, isNull } from 'drizzle-orm';
import type { Tx } from '../../../database/client.ts';
import type { Ctx } from '../../../database/context.ts';
import { courseDates } from '../../../database/tables/coursedates.ts';
import { tenantWhere } from '../../../lists/tenant-scope.ts';
import { hasCatalog } from './service.ts';

/**
 * Sets `updated_at` of the dates that show a changed URL or title of their course, deleted ones too; returns false if
 * there are none. A date with a title of its own shows the URL alone, and that only with a catalog.
 */
export async function touchDatesOfCourse(ctx: Ctx, tx: Tx, now: string, courseId: number, shown: 'url' | 'title') {
  const isUrlShown = shown === 'url' && (await hasCatalog(ctx, tx));
  const affected = isUrlShown ? undefined : isNull(courseDates.title);
  const dates = tenantWhere(ctx, courseDates, eq(courseDates.courseId, courseId), affected);
  const { rowCount } = await tx.update(courseDates).set({ updatedAt: now }).where(dates);
  return rowCount !== 0;
}
