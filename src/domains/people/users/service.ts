import { eq, ne } from 'drizzle-orm';
import type { Static } from '@sinclair/typebox';
import { itemAt, Problem } from '../../../core/errors.ts';
import { todayIn } from '../../../core/timestamps.ts';
import type { Ctx, WriteCtx } from '../../../database/context.ts';
import { matchFolded } from '../../../database/tables/columns.ts';
import { customers } from '../../../database/tables/customers.ts';
import { courseUsers } from '../../../database/tables/users.ts';
import { bodyWriter } from '../../../lists/body-writer.ts';
import { tenantWhere } from '../../../lists/tenant-scope.ts';
import { replaceOfferLinks } from '../../messages/links/service.ts';
import { voidTokens } from '../../school/auth/token-service.ts';
import { findExistingUsers, createUsernames, toIdentity, selectNewUsers } from './enrolment-service.ts';
import { CourseUserBody, type CourseUserChange, type CourseUserRow } from './fields.ts';
import { courseUserList, courseUserSearch, employeeList } from './list.ts';
import { isPerson } from './loaders.ts';

export const getCourseUser = async (ctx: Ctx, id: number) =>
  Problem.assertFound(await courseUserList.byId(ctx, id), 'Course user');

export const missingKeyword = () =>
  Problem.coded('keyword_missing', 'Missing field(s): email, firstname, lastname or username', {
    missing: ['email', 'firstname', 'lastname', 'username'],
  });

/** Course users that match all of the keywords. */
export async function searchCourseUsers(ctx: Ctx, query: Static<typeof courseUserSearch.Query>) {
  const { email, firstname, lastname, username } = query;
  if ([email, firstname, lastname, username].every((keyword) => keyword === undefined)) {
    throw missingKeyword();
  }
  return courseUserSearch.page(ctx, query);
}

export async function listEmployees(ctx: Ctx, customerId: number, query: Static<typeof employeeList.Query>) {
  if ((await ctx.db.$count(customers, tenantWhere(ctx, customers, eq(customers.id, customerId)))) === 0)
    throw Problem.notFound('Customer');
  return employeeList.page(ctx, { ...query, customer_id: customerId }, { withTotal: query.paginate === true });
}

const { toColumns, toUpdatedColumns, insert, references, findUnapplied } = bodyWriter(courseUsers, CourseUserBody);
export const courseUserReferences = references;

/** A person with an equal e-mail (case ignored) and equal names (folded) stays as it is: `ignored` has other values. */
export function createCourseUser(ctx: Ctx, body: CourseUserBody) {
  return ctx.write(['people'], async (w) => {
    const { tx, now } = w;
    const reload = (id: number) => getCourseUser({ ...ctx, db: tx }, id);
    assertBirthDate(ctx, body);
    await courseUserReferences.assertKnown(body, { ctx, reader: tx });
    const found = await findExistingUsers(w, [body]);
    const [newUser] = selectNewUsers([body], found);
    if (!newUser) {
      const user = await reload(itemAt(found).id!);
      const row = tenantWhere(ctx, courseUsers, eq(courseUsers.id, user.id));
      const ignored = await findUnapplied(tx, row, body, { customProperties: user.custom_properties });
      return tx.rollBack({ user, isNew: false, ignored });
    }
    if (body.username !== undefined) await assertFreeUsername(w, body.username);
    const username = body.username ?? itemAt(await createUsernames(w, [newUser])).username;
    const row = { ...toColumns(body), username, providerId: ctx.providerId, createdAt: now, updatedAt: now };
    return { user: await reload(tx.auditItem(await insert(tx, row))), isNew: true, ignored: [] };
  });
}

/** A partial update. A new e-mail address ends the links that were mailed to the former one. */
export async function updateCourseUser(ctx: Ctx, id: number, body: CourseUserChange) {
  const user = tenantWhere(ctx, courseUsers, eq(courseUsers.id, id), isPerson);
  await ctx.write(['people'], async (w) => {
    const [before] = await w.tx.select().from(courseUsers).where(user);
    if (!before) throw Problem.notFound('Course user');
    if (before.erasedAt !== null) throw Problem.coded('person_erased', 'The course user is erased: create another one');
    assertBirthDate(ctx, body);
    await courseUserReferences.assertKnown(body, { ctx, reader: w.tx });
    if (body.username !== undefined) await assertFreeUsername(w, body.username, id);
    await assertNoSamePerson(w, before, body);
    if ((await w.tx.updateChanged(courseUsers, user, toUpdatedColumns(body, before), w.now)) === 0) {
      w.tx.rollBack();
      return;
    }
    const hasNewEmail = body.email !== undefined && body.email.toLowerCase() !== before.email?.toLowerCase();
    if (hasNewEmail) {
      await voidTokens(w, id);
      await replaceOfferLinks(w, id);
    }
  });
  return getCourseUser(ctx, id);
}

function assertBirthDate(ctx: Ctx, { date_of_birth: birthDate }: { date_of_birth?: string | null }) {
  if (birthDate && birthDate > todayIn(ctx.settings.timezone))
    throw Problem.invalidFields({ rules: { date_of_birth: 'date_in_future' } });
}

/** Usernames are compared as a sign-on does. */
async function assertFreeUsername(w: WriteCtx, username: string, ownId = 0) {
  const { isEqual } = matchFolded(courseUsers.username, username);
  const others = tenantWhere(w, courseUsers, isEqual, ne(courseUsers.id, ownId));
  const [other] = await w.tx.select({ id: courseUsers.id }).from(courseUsers).where(others).limit(1);
  if (other)
    throw Problem.coded('equal_username', 'A course user with an equal username exists already', {
      ...{ notValid: ['username'], conflictsWith: other.id },
    });
}

/** Throws if new names or a new e-mail would make a second course user of a person. */
async function assertNoSamePerson(w: WriteCtx, before: CourseUserRow, body: CourseUserChange) {
  const { firstname, lastname, email } = { ...before, ...body };
  if (firstname === null || lastname === null || email === null) return;
  const person = { firstname, lastname, email };
  const { firstname: first, lastname: last, email: address } = before;
  const isSame =
    toIdentity(person) === toIdentity({ firstname: first ?? '', lastname: last ?? '', email: address ?? '' });
  if (isSame) return;
  const { id } = itemAt(await findExistingUsers(w, [person]));
  if (id === null) return;
  const notValid = (['firstname', 'lastname', 'email'] as const).filter((name) => body[name] !== undefined);
  throw Problem.coded('equal_person', 'A course user with an equal e-mail and equal names exists already: merge them', {
    ...{ notValid, conflictsWith: id },
  });
}
