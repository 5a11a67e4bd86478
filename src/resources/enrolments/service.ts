import type { Ctx } from '../../core/context.ts';
import type { Tx } from '../../database/client.ts';
import { rowsOf, run } from '../../database/statements.ts';
import { findPersons, makeUsers, type PersonFound } from './query.ts';

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
  const strangers = newPersons(persons, found);
  if (strangers.length > 0) {
    const rows = await run<{ id: number }>(tx, makeUsers, [providerId, at, customerId, rowsOf(strangers)]);
    strangers.forEach((person, n) => made.set(identityOf(person), rows[n]!.id));
  }
  return persons.map((person, n) => {
    const known = found[n]!.id;
    return { userId: known ?? made.get(identityOf(person))!, isNew: known === null };
  });
}

const identityOf = ({ email, firstname, lastname }: Person) =>
  [email, firstname, lastname].map((text) => text.toLowerCase()).join('\n');

type Stranger = Person & { username: string };

/** Who is not known yet, each once, with the username they get: the e-mail, or more where that is somebody's already. */
export function newPersons(persons: Person[], found: PersonFound[]): Stranger[] {
  const [seen, emails, usernames] = [new Set<string>(), new Set<string>(), new Set<string>()];
  return persons.flatMap((person, n) => {
    const { id, taken, number } = found[n]!;
    const identity = identityOf(person);
    if (id !== null || seen.has(identity)) return [];
    seen.add(identity);

    const email = person.email.toLowerCase();
    const isFree = !taken && !emails.has(email);
    emails.add(email);
    const username = isFree ? person.email : numbered(person, number ?? 1, usernames);
    usernames.add(username.toLowerCase());
    return [{ ...person, username }];
  });
}

/** `<e-mail>_<first>_<last>`, and a number from 2 on where that is taken. */
function numbered({ email, firstname, lastname }: Person, first: number, taken: Set<string>) {
  const base = `${email}_${firstname}_${lastname}`.toLowerCase();
  const named = (number: number) => (number === 1 ? base : `${base}_${number}`);
  let number = first;
  while (taken.has(named(number))) number += 1;
  return named(number);
}
