import { eq } from 'drizzle-orm';
import type { Ctx } from '../../core/context.ts';
import { invalidFields, notFound } from '../../core/problem.ts';
import type { Tx } from '../../database/client.ts';
import { adminMemberships } from '../../database/tables/people.ts';
import { instructors } from '../../database/tables/places.ts';
import { own } from '../../lists/reach.ts';
import type { InstructorBody, InstructorChange } from './body.ts';
import { instructorList } from './query.ts';
import { toInstructor, type Instructor } from './schema.ts';

type InstructorQuery = Parameters<typeof instructorList.page>[1];

export const listInstructors = (ctx: Ctx, query: InstructorQuery) => instructorList.page(ctx, query);

export const createInstructor = (ctx: Ctx, body: InstructorBody): Promise<Instructor> =>
  ctx.write(async (tx, at) => {
    await refuseForeignUser(ctx, tx, body.idUser);
    const { firstname, lastname } = body;
    const [made] = await tx
      .insert(instructors)
      .values({ ...toColumns(body), firstname, lastname, providerId: ctx.providerId, createdAt: at, updatedAt: at })
      .returning();
    return toInstructor(made!);
  });

/** What is not sent keeps its value, what is sent empty is cleared; a name cannot be. */
export async function updateInstructor(ctx: Ctx, id: number, body: InstructorChange): Promise<Instructor> {
  const { firstname, lastname } = body;
  const missing = Object.entries({ firstname, lastname }).flatMap(([name, value]) => (value === null ? [name] : []));
  if (missing.length > 0) throw invalidFields({ missing });
  const instructor = own(ctx, instructors, eq(instructors.id, id));
  return ctx.write(async (tx, at) => {
    if ((await tx.$count(instructors, instructor)) === 0) throw notFound('Instructor');
    await refuseForeignUser(ctx, tx, body.idUser);
    const [changed] = await tx
      .update(instructors)
      .set({ ...toColumns(body), firstname: firstname ?? undefined, lastname: lastname ?? undefined, updatedAt: at })
      .where(instructor)
      .returning();
    return toInstructor(changed!);
  });
}

/** Only who belongs to the provider can be its instructor. */
async function refuseForeignUser(ctx: Ctx, tx: Tx, userId: number | null | undefined) {
  if (userId === undefined || userId === null) return;
  const member = own(ctx, adminMemberships, eq(adminMemberships.adminUserId, userId));
  if ((await tx.$count(adminMemberships, member)) === 0) throw invalidFields({ notValid: ['idUser'] });
}

const cleared = (sent: string | null | undefined) => (sent === null ? '' : sent);

const toColumns = (body: Omit<InstructorChange, 'firstname' | 'lastname'>) => ({
  phonePrefix: cleared(body.phone_prefix),
  phone: cleared(body.phone),
  email: cleared(body.email),
  position: cleared(body.position),
  company: cleared(body.company),
  description: cleared(body.description),
  showOnWeb: body.show_on_web,
  adminUserId: body.idUser,
});
