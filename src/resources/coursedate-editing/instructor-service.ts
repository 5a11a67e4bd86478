import { eq } from 'drizzle-orm';
import type { Ctx } from '../../database/context.ts';
import type { Tx } from '../../database/client.ts';
import { courseDateInstructors } from '../../database/tables/coursedates.ts';
import { tenantWhere } from '../../lists/tenant-scope.ts';

/** Adds instructors to a course date. */
export async function addInstructors(ctx: Ctx, tx: Tx, courseDateId: number, ids: number[]) {
  const { providerId } = ctx;
  const rows = [...new Set(ids)].map((instructorId) => ({ providerId, courseDateId, instructorId }));
  if (rows.length > 0) await tx.insert(courseDateInstructors).values(rows);
}

/** Replaces the instructors of a course date, unless they are the same; returns true if that changed any. */
export async function replaceInstructors(ctx: Ctx, tx: Tx, courseDateId: number, ids: number[]): Promise<boolean> {
  const ofDate = tenantWhere(ctx, courseDateInstructors, eq(courseDateInstructors.courseDateId, courseDateId));
  const before = await tx.select({ id: courseDateInstructors.instructorId }).from(courseDateInstructors).where(ofDate);
  const known = new Set(before.map(({ id }) => id));
  const wanted = new Set(ids);
  if (known.size === wanted.size && [...wanted].every((id) => known.has(id))) return false;
  await tx.delete(courseDateInstructors).where(ofDate);
  await addInstructors(ctx, tx, courseDateId, ids);
  return true;
}
