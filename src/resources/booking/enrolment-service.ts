import type { Ctx } from '../../core/context.ts';
import type { Tx } from '../../database/client.ts';
import { toRecordset, execute } from '../../database/statements.ts';
import { findNumbers, findPersons, createUsers, type PersonFound } from './enrolment-sql.ts';

/** Somebody who shall take part in a course. */
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
export type Enrolled = { userId: number; isNew: boolean };

/** Whom of these persons the provider knows, in their order. */
export const findKnown = ({ providerId }: Ctx, tx: Tx, persons: Person[]) =>
  execute<PersonFound>(tx, findPersons, [providerId, toRecordset(persons)]);

/**
 * The course users of these persons, in their order: found by e-mail and name together, without regard to case, and then
 * left as they are, else made from what `found` tells of them, with the customer that employs them if one is given. Persons who are named twice are one.
 */
export async function enrol(
  { providerId }: Ctx,
  tx: Tx,
  now: string,
  persons: Person[],
  found: PersonFound[],
  customerId: number | null,
): Promise<Enrolled[]> {
  const created = new Map<string, number>();
  const newUsers = usersToCreate(persons, found);
  if (newUsers.length > 0) {
    const shared = sharingAmong(newUsers);
    const numbers = shared.length > 0 ? await execute<Free>(tx, findNumbers, [providerId, toRecordset(shared)]) : [];
    const rows = toRecordset(named(newUsers, numbers));
    const ids = await execute<{ id: number }>(tx, createUsers, [providerId, now, customerId, rows]);
    newUsers.forEach((stranger, n) => created.set(stranger.identity, ids[n]!.id));
  }
  return persons.map((person, n) => {
    const known = found[n]!.id;
    return { userId: known ?? created.get(getIdentity(person))!, isNew: known === null };
  });
}

const getIdentity = ({ email, firstname, lastname }: Person) =>
  [email, firstname, lastname].map((text) => text.toLowerCase()).join('\n');

/** `isShared`: the e-mail is another's already, in the database or before in the same booking. */
type Stranger = Person & { identity: string; isShared: boolean };
type Free = { numbers: number[] };

/** Who is not known yet, each once. */
export function usersToCreate(persons: Person[], found: PersonFound[]): Stranger[] {
  const [seen, emails] = [new Set<string>(), new Set<string>()];
  return persons.flatMap((person, n) => {
    const { id, taken } = found[n]!;
    const identity = getIdentity(person);
    if (id !== null || seen.has(identity)) return [];
    seen.add(identity);

    const email = person.email.toLowerCase();
    const isShared = taken || emails.has(email);
    emails.add(email);
    return [{ ...person, identity, isShared }];
  });
}

/** The username of a stranger while no other is in its way. */
const getName = ({ email, firstname, lastname, isShared }: Stranger) =>
  (isShared ? `${email}_${firstname}_${lastname}` : email).toLowerCase();

/** New users with a shared e-mail, each with how many free numbers to find: one for each name here that may collide. */
function sharingAmong(newUsers: Stranger[]) {
  const names = newUsers.map(getName);
  const countFor = (base: string) => names.filter((name) => name.startsWith(base)).length;
  return newUsers.flatMap((user, n) => (user.isShared ? [{ ...user, candidates: countFor(names[n]!) }] : []));
}

/**
 * A username is the e-mail, or where that is shared, `<e-mail>_<first>_<last>` in lower case, with a number from 2 on
 * where that is taken. `free` are the numbers that nobody has, for each who shares one, in their order.
 */
export function named(newUsers: Stranger[], free: Free[]) {
  const taken = new Set(newUsers.filter(({ isShared }) => !isShared).map(getName));
  let shared = 0;
  return newUsers.map((stranger) => {
    if (!stranger.isShared) return { ...stranger, username: stranger.email };
    const base = getName(stranger);
    const names = free[shared]!.numbers.map((number) => (number === 1 ? base : `${base}_${number}`));
    const username = names.find((name) => !taken.has(name))!;
    shared += 1;
    taken.add(username);
    return { ...stranger, username };
  });
}
