import type { Ctx } from '../../core/context.ts';
import type { Tx } from '../../database/client.ts';
import { rowsOf, run } from '../../database/statements.ts';
import { findNumbers, findPersons, makeUsers, type PersonFound } from './query.ts';

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

/**
 * The course users of these persons, in their order: found by e-mail and name together, without regard to case, and then
 * left as they are, else made, with the customer that employs them if one is given. Persons who are named twice are one.
 */
export async function enrol(
  { providerId }: Ctx,
  tx: Tx,
  at: string,
  persons: Person[],
  customerId: number | null,
): Promise<Enrolled[]> {
  const found = await run<PersonFound>(tx, findPersons, [providerId, rowsOf(persons)]);
  const made = new Map<string, number>();
  const strangers = strangersAmong(persons, found);
  if (strangers.length > 0) {
    const shared = strangers.filter(({ isShared }) => isShared);
    const numbers = shared.length > 0 ? await run<Free>(tx, findNumbers, [providerId, rowsOf(shared)]) : [];
    const rows = rowsOf(named(strangers, numbers));
    const ids = await run<{ id: number }>(tx, makeUsers, [providerId, at, customerId, rows]);
    strangers.forEach((stranger, n) => made.set(stranger.identity, ids[n]!.id));
  }
  return persons.map((person, n) => {
    const known = found[n]!.id;
    return { userId: known ?? made.get(identityOf(person))!, isNew: known === null };
  });
}

const identityOf = ({ email, firstname, lastname }: Person) =>
  [email, firstname, lastname].map((text) => text.toLowerCase()).join('\n');

/** `isShared`: the e-mail is another's already, in the database or before in the same booking. */
type Stranger = Person & { identity: string; isShared: boolean };
type Free = { number: number | null };

/** Who is not known yet, each once. */
export function strangersAmong(persons: Person[], found: PersonFound[]): Stranger[] {
  const [seen, emails] = [new Set<string>(), new Set<string>()];
  return persons.flatMap((person, n) => {
    const { id, taken } = found[n]!;
    const identity = identityOf(person);
    if (id !== null || seen.has(identity)) return [];
    seen.add(identity);

    const email = person.email.toLowerCase();
    const isShared = taken || emails.has(email);
    emails.add(email);
    return [{ ...person, identity, isShared }];
  });
}

/** A username is the e-mail, or where that is shared, more: in their order, `numbers` are the first free ones for these. */
export function named(strangers: Stranger[], numbers: Free[]) {
  const usernames = new Set<string>();
  let shared = 0;
  return strangers.map((stranger) => {
    if (!stranger.isShared) return { ...stranger, username: stranger.email };
    const username = numbered(stranger, numbers[shared]?.number ?? 1, usernames);
    shared += 1;
    usernames.add(username);
    return { ...stranger, username };
  });
}

/** `<e-mail>_<first>_<last>`, and a number from 2 on where that is taken. */
function numbered({ email, firstname, lastname }: Person, first: number, taken: Set<string>) {
  const base = `${email}_${firstname}_${lastname}`.toLowerCase();
  const withNumber = (number: number) => (number === 1 ? base : `${base}_${number}`);
  let number = first;
  while (taken.has(withNumber(number))) number += 1;
  return withNumber(number);
}
