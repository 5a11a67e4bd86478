import { eq } from 'drizzle-orm';
import type { Ctx } from '../../../database/context.ts';
import { Problem } from '../../../core/errors.ts';
import type { Tx } from '../../../database/client.ts';
import { courseDateInstructors } from '../../../database/tables/coursedates.ts';
import { instructors } from '../../../database/tables/places.ts';
import { bodyWriter } from '../../../lists/body-writer.ts';
import { replaceLinks } from '../../../lists/links.ts';
import { tenantWhere } from '../../../lists/tenant-scope.ts';
import { InstructorBody, type InstructorChange } from './body-schema.ts';
import { instructorList } from './list.ts';
import { toInstructor, type Instructor } from './schema.ts';

const { toColumns, references } = bodyWriter(instructors, InstructorBody);
export const instructorReferences = references;

export const createInstructor = (ctx: Ctx, body: InstructorBody): Promise<Instructor> =>
  ctx.write(['catalog'], async (tx, now) => {
    await instructorReferences.assertKnown(body, { ctx, reader: tx });
    const { firstname, lastname } = body;
    const [created] = await tx
      .insert(instructors)
      .values({ ...toColumns(body), firstname, lastname, providerId: ctx.providerId, createdAt: now, updatedAt: now })
      .returning();
    tx.recordAffected(created!.id);
    return toInstructor(created!);
  });

/** Archived ones too. */
export const getInstructor = async (ctx: Ctx, id: number): Promise<Instructor> =>
  Problem.assertFound(await instructorList.byId(ctx, id), 'Instructor');

export function updateInstructor(ctx: Ctx, id: number, body: InstructorChange): Promise<Instructor> {
  const instructor = tenantWhere(ctx, instructors, eq(instructors.id, id));
  return ctx.write(['catalog'], async (tx, now) => {
    if ((await tx.$count(instructors, instructor)) === 0) throw Problem.notFound('Instructor');
    await instructorReferences.assertKnown(body, { ctx, reader: tx, params: { id } });
    const changed = await tx.updateChanged(instructors, instructor, toColumns(body), now);
    const [row] = await tx.select().from(instructors).where(instructor);
    const updated = toInstructor(row!);
    return changed === 0 ? tx.rollbackNoChange(updated) : updated;
  });
}

/** Idempotent. Course dates still show an archived instructor. */
export const archiveInstructor = (ctx: Ctx, id: number): Promise<Instructor> =>
  ctx.write(['catalog'], async (tx, now) => {
    const instructor = tenantWhere(ctx, instructors, eq(instructors.id, id));
    const [before] = await tx.select().from(instructors).where(instructor);
    if (!before) throw Problem.notFound('Instructor');
    if (before.archivedAt !== null) return tx.rollbackNoChange(toInstructor(before));
    const timestamps = { archivedAt: now, updatedAt: now };
    const [archived] = await tx.update(instructors).set(timestamps).where(instructor).returning();
    return toInstructor(archived!);
  });

/** Replaces the instructors of a course date; returns true if that changed any. */
export const replaceInstructors = (ctx: Ctx, tx: Tx, courseDateId: number, ids: number[]) =>
  replaceLinks(ctx, tx, courseDateInstructors, { courseDateId }, 'instructorId', ids);
