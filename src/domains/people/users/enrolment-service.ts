import { hasAnyId } from '../../../database/tables/columns.ts';
import { and, eq, notExists, sql, type SQL } from 'drizzle-orm';
import type { WriteCtx } from '../../../database/context.ts';
import type { Tx } from '../../../database/client.ts';
import { itemAt } from '../../../core/errors.ts';
import { foldText } from '../../../core/text.ts';
import type { RowOf } from '../../../database/statement.ts';
import { events } from '../../../database/tables/events.ts';
import { importRefs } from '../../../database/tables/imports.ts';
import { outbox } from '../../../database/tables/outbox.ts';
import { participants } from '../../../database/tables/participants.ts';
import { courseUsers } from '../../../database/tables/users.ts';
import { tenantWhere } from '../../../lists/tenant-scope.ts';
import * as statements from './enrolment-sql.ts';

export type Person = {
  email: string;
  firstname: string;
  lastname: string;
  phone?: string | undefined;
  company?: string | undefined;
  companyNumber?: string | undefined;
  position?: string | undefined;
  dateOfBirth?: string | undefined;
};
export type EnrolledUser = { userId: number; isNew: boolean };

/** Existing course users for these persons, in their order. */
export const findExistingUsers = ({ providerId, tx }: WriteCtx, persons: Person[]) =>
  statements.findPersons(tx, { providerId, persons });

/**
 * Returns the course users of these persons, in their order. A user with an equal e-mail (case ignored) and equal names
 * (folded) stays as it is; others are created once each, as employees of the customer if one is given.
 */
export async function enrolUsers(
  w: WriteCtx,
  persons: Person[],
  found: PersonFound[],
  customerId: number | null,
): Promise<EnrolledUser[]> {
  const created = new Map<string, number>();
  const newUsers = selectNewUsers(persons, found);
  if (newUsers.length > 0) {
    const users = await createUsernames(w, newUsers);
    const ids = await statements.createUsers(w.tx, { providerId: w.providerId, now: w.now, customerId, users });
    newUsers.forEach(({ identity }, n) => created.set(identity, itemAt(ids, n).id));
  }
  return persons.map((person, n) => {
    const existing = itemAt(found, n).id;
    return { userId: existing ?? created.get(toIdentity(person))!, isNew: existing === null };
  });
}

/** New users with their usernames. */
export async function createUsernames({ providerId, tx }: WriteCtx, newUsers: NewUser[]) {
  const persons = withSharedEmail(newUsers);
  return assignUsernames(newUsers, persons.length > 0 ? await statements.findNumbers(tx, { providerId, persons }) : []);
}

/** Equal for the same person. */
export const toIdentity = ({ email, firstname, lastname }: Pick<Person, 'email' | 'firstname' | 'lastname'>) =>
  [email.toLowerCase(), foldText(firstname), foldText(lastname)].join('\n');

/** `isShared`: another user, or a person before in the booking, has this e-mail. */
type NewUser = Person & { identity: string; isShared: boolean };
type FreeNumbers = RowOf<typeof statements.findNumbers>;
type PersonFound = RowOf<typeof statements.findPersons>;

/** Persons without a course user, each once. */
export function selectNewUsers(persons: Person[], found: PersonFound[]): NewUser[] {
  const [seen, emails] = [new Set<string>(), new Set<string>()];
  return persons.flatMap((person, n) => {
    const { id, taken } = itemAt(found, n);
    const identity = toIdentity(person);
    if (id !== null || seen.has(identity)) return [];
    seen.add(identity);

    const email = person.email.toLowerCase();
    const isShared = taken || emails.has(email);
    emails.add(email);
    return [{ ...person, identity, isShared }];
  });
}

/** The username before a number is added. */
const toBaseName = ({ email, firstname, lastname, isShared }: NewUser) =>
  foldText(isShared ? `${email}_${firstname}_${lastname}` : email);

/** New users with a shared e-mail, each with how many free numbers to find: one for each name here that may collide. */
export function withSharedEmail(newUsers: NewUser[]) {
  const bases = newUsers.map((user) => toBases(toBaseName(user)));
  const counts = new Map<string, number>();
  for (const base of bases.flat()) counts.set(base, (counts.get(base) ?? 0) + 1);
  return newUsers.flatMap((user, n) => {
    const [name, ...base] = itemAt(bases, n);
    return user.isShared ? [{ ...user, candidates: counts.get(name!)! + base.length }] : [];
  });
}

/** A name, and the name that it is with a number, if it ends in one. */
function toBases(name: string) {
  const base = /^(.+)_\d+$/s.exec(name)?.[1];
  return base === undefined ? [name] : [name, base];
}

/** Assigns the e-mail, or if shared, `<e-mail>_<first>_<last>` folded with the next of the `free` numbers. */
export function assignUsernames(newUsers: NewUser[], free: FreeNumbers[]) {
  const taken = new Set(newUsers.filter(({ isShared }) => !isShared).map(toBaseName));
  let shared = 0;
  return newUsers.map((user) => {
    if (!user.isShared) return { ...user, username: user.email };
    const base = toBaseName(user);
    const names = itemAt(free, shared).numbers.map((number) => (number === 1 ? base : `${base}_${number}`));
    const username = names.find((name) => !taken.has(name))!;
    shared += 1;
    taken.add(username);
    return { ...user, username };
  });
}

/** Course users that stand for a group's places until these are named. */
export async function createPlaceholders({ providerId, tx, now }: WriteCtx, count: number) {
  const created = await statements.createPlaceholders(tx, { providerId, now, count });
  await dropEvents(
    providerId,
    tx,
    hasAnyId(
      events.resourceId,
      created.map(({ userId }) => userId),
    ),
  );
  return created.map((user) => ({ ...user, isNew: false }));
}

/** Deletes a placeholder whose place `userId` has now, if nothing else refers to it; an import finds the person. */
export async function deletePlaceholder(w: WriteCtx, id: number, userId: number) {
  const isUnused = [participants, outbox].map((table) =>
    notExists(
      w.tx
        .select({ id: table.id })
        .from(table)
        .where(tenantWhere(w, table, eq(table.userId, id))),
    ),
  );
  const isPlaceholder = and(eq(courseUsers.id, id), eq(courseUsers.isPlaceholder, true), ...isUnused);
  const { rowCount } = await w.tx.delete(courseUsers).where(tenantWhere(w, courseUsers, isPlaceholder));
  if (rowCount === 0) return false;
  const isRef = and(eq(importRefs.kind, 'user'), eq(importRefs.itemId, id));
  await w.tx
    .update(importRefs)
    .set({ itemId: userId })
    .where(tenantWhere(w, importRefs, isRef));
  await dropEvents(w.providerId, w.tx, eq(events.resourceId, id));
  return true;
}

/** The interface does not show placeholders, so their events go. */
const dropEvents = (providerId: number, tx: Tx, isOfUser: SQL) =>
  tx
    .delete(events)
    .where(
      tenantWhere(
        { providerId },
        events,
        sql`${events.id} >= first_event_id()`,
        eq(events.resource, 'courseuser'),
        isOfUser,
      ),
    );
