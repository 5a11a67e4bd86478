import { plusDays, type Calendar } from './calendar.ts';
import { demoCourses } from './courses.ts';
import { companies, customerLines } from './customers.ts';
import type { Line } from './lines.ts';
import { getEmployees, privatePersons } from './people.ts';
import type { Run } from './runs.ts';
import { getSeats } from './seats.ts';
import type { DemoCourse } from './types.ts';

/** One order of a run: who booked when, and who takes part. */
export type Booking = {
  ref: string;
  /** How many were made before it. */
  n: number;
  run: Run;
  course: DemoCourse;
  orderedOn: string;
  /** Undefined for a person without an account. */
  customer: Line | undefined;
  participants: { user: Line; letter: string; status: number }[];
};

/** The bookings of all runs. */
export function bookingsOn({ today }: Calendar, runs: Run[]): Booking[] {
  const buyer = buyersInTurn();
  const planned = runs.flatMap((run) => {
    const seat = getSeats(run);
    const orders = run.orders === '' ? [] : run.orders.split(' ');
    return orders.map((letters, place) => ({ run, letters, seat, before: orders.length - place }));
  });
  return planned.map(({ run, letters, seat, before }, n) => {
    const course = demoCourses.find(({ reference }) => reference === run.course)!;
    const { customer, users } = buyer(course, letters.length);
    const participants = Array.from(letters, (letter, n) => ({ user: users[n]!, letter, status: seat(letter) }));
    // Three days between any two, the last of them a good while before the run.
    const orderedOn = run.start > today ? plusDays(today, -3 * before) : plusDays(run.start, -7 - 3 * before);
    return { ref: `ordre/${n + 1}`, n, run, course, orderedOn, customer, participants };
  });
}

/** What people do in their free time they pay for themselves. */
const isLeisure = ({ reference = '' }: DemoCourse) => /^(MAT|FRI|HEL|SPR)-/.test(reference);

/** Companies, their employees and private persons take turns, so that nobody is on a run twice. */
function buyersInTurn() {
  const persons = inTurn(privatePersons);
  const active = inTurn(companies.filter(({ status }) => status !== 2));
  const staff = new Map(companies.map(({ ref }) => [ref, inTurn(getEmployees(ref))]));

  return (course: DemoCourse, size: number) => {
    if (course.customer === undefined && (size === 1 || isLeisure(course))) {
      const users = persons(size);
      return { customer: customerLines.find(({ ref }) => ref === users[0]!['customer_id']), users };
    }
    const customer = companies.find(({ ref }) => ref === course.customer) ?? active(1)[0]!;
    return { customer, users: staff.get(customer.ref)!(size) };
  };
}

/** Hands out so many items at a time, and begins anew after the last. */
function inTurn<T>(items: T[]) {
  let next = 0;
  return (count: number) => Array.from({ length: count }, () => items[next++ % items.length]!);
}
