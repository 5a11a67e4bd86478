import { plusDays, type Calendar } from './calendar.ts';
import { demoCourses } from './courses.ts';
import { companies, customerLines } from './customers.ts';
import type { Line } from './lines.ts';
import { getEmployees, privatePersons } from './people.ts';
import type { Run } from './runs.ts';
import { createSeatAssigner } from './seats.ts';
import type { DemoCourse } from './types.ts';

/** An order of a run: customer, date and participants. */
export type Booking = {
  ref: string;
  /** Index among all orders. */
  n: number;
  run: Run;
  course: DemoCourse;
  orderedOn: string;
  /** Undefined for private persons without an account. */
  customer: Line | undefined;
  participants: { user: Line; letter: string; status: number }[];
};

export function createBookings({ today }: Calendar, runs: Run[]): Booking[] {
  const buyer = createBuyerRotation();
  const orders = runs.flatMap((run) => {
    const seat = createSeatAssigner(run);
    const orders = run.orders === '' ? [] : run.orders.split(' ');
    return orders.map((letters, place) => ({ run, letters, seat, before: orders.length - place }));
  });
  return orders.map(({ run, letters, seat, before }, n) => {
    const course = demoCourses.find(({ reference }) => reference === run.course)!;
    const { customer, users } = buyer(course, letters.length);
    const participants = Array.from(letters, (letter, n) => ({ user: users[n]!, letter, status: seat(letter) }));
    // Every three days, the last one at least ten days before the run.
    const orderedOn = run.start > today ? plusDays(today, -3 * before) : plusDays(run.start, -7 - 3 * before);
    return { ref: `ordre/${n + 1}`, n, run, course, orderedOn, customer, participants };
  });
}

/** Leisure courses are paid for by private persons. */
const isLeisure = ({ reference = '' }: DemoCourse) => /^(MAT|FRI|HEL|SPR)-/.test(reference);

/** Rotates companies, employees and private persons, so that nobody is on a run twice. */
function createBuyerRotation() {
  const persons = rotate(privatePersons);
  const active = rotate(companies.filter(({ status }) => status !== 2));
  const staff = new Map(companies.map(({ ref }) => [ref, rotate(getEmployees(ref))]));

  return (course: DemoCourse, size: number) => {
    if (course.customer === undefined && (size === 1 || isLeisure(course))) {
      const users = persons(size);
      return { customer: customerLines.find(({ ref }) => ref === users[0]!['customer_id']), users };
    }
    const customer = companies.find(({ ref }) => ref === course.customer) ?? active(1)[0]!;
    return { customer, users: staff.get(customer.ref)!(size) };
  };
}

/** Returns a function for the next `count` items, which starts over after the last. */
function rotate<T>(items: T[]) {
  let next = 0;
  return (count: number) => Array.from({ length: count }, () => items[next++ % items.length]!);
}
