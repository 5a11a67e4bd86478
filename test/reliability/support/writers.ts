import { pause } from '../scenario.ts';
import type { HttpResponse } from './client.ts';
import type { Postgres } from './postgres.ts';
import { cli, type School, type Schools } from './school.ts';

/** A booking and its response; its `emails` are unique. */
type Booking = { school: School; emails: string[]; acknowledged?: BookingIds };
/** The id, or that its title exists, since an attempt whose response was lost created it. */
type Course = { school: School; title: string; acknowledged?: number | 'created before' };

/** Acknowledged and uncertain writes, as recorded by the clients. */
export type Writes = { bookings: Booking[]; courses: Course[] };

export type Writers = {
  written: Writes;
  /** Responses per status; 0 are cut connections. */
  statuses: Map<number, number>;
  /** Responses that must never occur. */
  unexpectedResponses: string[];
  /** When each write was acknowledged, as performance.now(). */
  acknowledgedAt: number[];
  /** Stops the writers after their current write; gives up after that many milliseconds. */
  stop(milliseconds?: number): Promise<void>;
};

type WritersOptions = {
  count?: number;
  base: () => string;
  /** Timeout in milliseconds before a client retries. */
  timeoutMs?: number;
  /** Sends an `Idempotency-Key`; without it requests are retried all the same. */
  idempotencyKeys?: boolean;
  /** Keeps the names of several writer sets on one database distinct. */
  name?: string;
  /** Pause of each writer between two writes, in milliseconds. */
  pauseMs?: number;
  /** Further statuses of a proxy after which it is unknown whether the write is stored. */
  uncertain?: number[];
};

/** Clients that write sequentially and retry each write until it is acknowledged. */
export function startWriters(schools: School[], options: WritersOptions): Writers {
  const { count = 16, base, timeoutMs = 12_000, idempotencyKeys = true, name = 'writer' } = options;
  const repeated = [0, 503, ...(options.uncertain ?? [])];
  const written: Writes = { bookings: [], courses: [] };
  const statuses = new Map<number, number>();
  const unexpectedResponses: string[] = [];
  const acknowledgedAt: number[] = [];
  let stopping = false;
  let deadline = Infinity;

  /** Retries until there is a definite response; undefined if given up. */
  async function retry(send: () => Promise<HttpResponse>) {
    for (let attempt = 1; performance.now() < deadline; attempt += 1) {
      const response = await send();
      statuses.set(response.status, (statuses.get(response.status) ?? 0) + 1);
      if (response.status === 503 && response.headers['retry-after'] === undefined)
        unexpectedResponses.push('503, no Retry-After');
      if (response.status === 201) acknowledgedAt.push(performance.now());
      if (!repeated.includes(response.status)) return { response, attempt };
      await pause(200);
    }
    return undefined;
  }

  async function book(school: School, id: string) {
    const emails = Array.from({ length: 3 }, (_, n) => `${id}-${n}@people.example`);
    const participants = emails.map((email, n) => ({ firstname: 'Kari', lastname: `Nordmann ${n}`, email }));
    const coursedate_id = school.dateIds[written.bookings.length % school.dateIds.length]!;
    const booking: Booking = { school, emails };
    written.bookings.push(booking);
    const headers: Record<string, string> = idempotencyKeys ? { 'idempotency-key': id } : {};
    const result = await retry(() =>
      school.client.post(
        `${base()}/v2/booking`,
        { coursedate_id, payment_method: 'invoice', participants },
        { headers, timeoutMs },
      ),
    );
    if (result?.response.status === 201) booking.acknowledged = parseBookingIds(result.response.text);
    else if (result) unexpectedResponses.push(`a booking: ${result.response.status} ${result.response.text}`);
  }

  async function createCourse(school: School, title: string) {
    const course: Course = { school, title };
    written.courses.push(course);
    const result = await retry(() => school.client.post(`${base()}/v2/courses`, { title }, { timeoutMs }));
    if (result?.response.status === 201)
      course.acknowledged = (JSON.parse(result.response.text) as { course_id: number }).course_id;
    else if (result && result.attempt > 1 && isTaken(result.response)) course.acknowledged = 'created before';
    else if (result) unexpectedResponses.push(`a course: ${result.response.status} ${result.response.text}`);
  }

  async function write(writer: number) {
    const school = schools[writer % schools.length]!;
    for (let n = 0; !stopping; n += 1) {
      const id = `${name}-${writer}-${n}`;
      await (n % 3 === 2 ? createCourse(school, id) : book(school, id));
      if (options.pauseMs) await pause(options.pauseMs);
    }
  }

  const all = Promise.all(Array.from({ length: count }, (_, writer) => write(writer)));
  return {
    ...{ written, statuses, unexpectedResponses, acknowledgedAt },
    stop: async (milliseconds = 20_000) => {
      stopping = true;
      deadline = performance.now() + milliseconds;
      await all;
    },
  };
}

const isTaken = ({ status, text }: HttpResponse) => status === 400 && text.includes('with an equal title exists');

/** True for each write acknowledged in the end. */
export const areAllAcknowledged = ({ bookings, courses }: Writes) =>
  [...bookings, ...courses].every(({ acknowledged }) => acknowledged !== undefined);

type BookingIds = { order: number; booking: number; participants: number[] };
type Summary = { order_id: string; booking_id: string; participants: { id: number }[] };

/** Acknowledged ids of a booking response. */
export function parseBookingIds(text: string): BookingIds {
  const { summary } = JSON.parse(text) as { summary: Summary };
  const participants = summary.participants.map(({ id }) => id);
  return { order: Number(summary.order_id), booking: Number(summary.booking_id), participants };
}

/** Selects the orders of one provider. */
const orders = `select o.id as order, o.provider_id as provider,
    (select count(*) from bookings b where b.provider_id = $1 and b.order_id = o.id)::int as bookings,
    (select min(b.id) from bookings b where b.provider_id = $1 and b.order_id = o.id) as booking,
    (select coalesce(sum(l.quantity), 0) from order_lines l where l.provider_id = $1 and l.order_id = o.id)::int as quantity,
    (select count(*) from order_lines l join order_line_participants p
       on p.provider_id = l.provider_id and p.order_line_id = l.id
     where l.provider_id = $1 and l.order_id = o.id)::int as paid,
    (select coalesce(json_agg(json_build_object('id', p.id, 'email', u.email) order by p.id), '[]')
     from bookings b join participants p on p.provider_id = b.provider_id and p.booking_id = b.id
       join course_users u on u.provider_id = p.provider_id and u.id = p.user_id
     where b.provider_id = $1 and b.order_id = o.id) as participants
  from orders o where o.provider_id = $1`;
type Order = {
  order: string;
  provider: string;
  bookings: number;
  booking: string | null;
  quantity: number;
  paid: number;
  participants: { id: number; email: string }[];
};

export type Comparison = {
  lost: number;
  duplicates: number;
  partial: number;
  unexpected: number;
  wrongCounters: boolean;
};

/** Compares the rows of the schools with the clients' knowledge. */
export async function compareWrites(
  { postgres, env }: { postgres: Pick<Postgres, 'connect'>; env: Record<string, string> },
  { bookings, courses }: Writes,
): Promise<Comparison> {
  const client = await postgres.connect('schools');
  const ids = [...new Set([...bookings, ...courses].map(({ school }) => school.id))];
  const readAll = async <Row extends object>(text: string) => {
    const all: Row[] = [];
    for (const id of ids) all.push(...(await client.query<Row>(text, [id])).rows);
    return all;
  };
  const rows = await readAll<Order>(orders);
  const titles = await readAll<{ id: string; provider: string; title: string }>(
    'select id, provider_id as provider, title from courses where provider_id = $1',
  );
  const people = await readAll<{ email: string }>('select email from course_users where provider_id = $1');
  await client.end();

  const byEmail = new Map<string, Order[]>();
  for (const order of rows) for (const { email } of order.participants) push(byEmail, email, order);
  const byTitle = new Map<string, { id: string }[]>();
  for (const course of titles) push(byTitle, `${course.provider} ${course.title}`, course);
  const requestedEmails = new Set(bookings.flatMap(({ emails }) => emails));

  const ordersOf = ({ emails }: Booking) => [...new Set(emails.flatMap((email) => byEmail.get(email) ?? []))];
  const coursesOf = ({ school, title }: Course) => byTitle.get(`${school.id} ${title}`) ?? [];
  const exists = ({ acknowledged, ...course }: Course) =>
    acknowledged === undefined ||
    coursesOf(course).some(({ id }) => acknowledged === 'created before' || Number(id) === acknowledged);
  const isStored = ({ acknowledged, school, ...booking }: Booking) =>
    acknowledged === undefined ||
    ordersOf({ school, ...booking }).some(
      (order) =>
        Number(order.order) === acknowledged.order &&
        Number(order.booking) === acknowledged.booking &&
        Number(order.provider) === school.id &&
        acknowledged.participants.every((id, n) => order.participants[n]?.id === id),
    );
  const isComplete = (order: Order) =>
    order.bookings === 1 && [order.quantity, order.paid, order.participants.length].every((count) => count === 3);
  const doctor = await cli(env, 'doctor', '--only', 'data');
  return {
    lost: bookings.filter((booking) => !isStored(booking)).length + courses.filter((course) => !exists(course)).length,
    duplicates:
      bookings.filter((booking) => ordersOf(booking).length > 1).length +
      courses.filter((course) => coursesOf(course).length > 1).length,
    partial: rows.filter((order) => !isComplete(order)).length,
    // A user without an order is a partial booking, too.
    unexpected: people.filter(({ email }) => !requestedEmails.has(email) || !byEmail.has(email)).length,
    wrongCounters: doctor.code !== 0,
  };
}

/** Describes the differences. */
export const comparisonChecks = ({
  lost,
  duplicates,
  partial,
  unexpected,
  wrongCounters,
}: Comparison): Record<string, boolean> => ({
  [`every acknowledged write is stored (${lost} are not)`]: lost === 0,
  [`nothing is stored twice (${duplicates} are)`]: duplicates === 0,
  [`no order is partly stored (${partial} are)`]: partial === 0,
  [`no user is stored without an order (${unexpected} are)`]: unexpected === 0,
  'counters and totals equal the recount': !wrongCounters,
});

/** Negative control: causes each failure and returns those that `compare` does not detect. Leaves the data unusable. */
export async function undetectedFaults(schools: Schools, base: string, written: Writes): Promise<string[]> {
  const { first, postgres } = schools;
  const emails = ['forged-0@people.example', 'forged-1@people.example', 'forged-2@people.example'];
  const forged = { school: first, emails, acknowledged: { order: 1, booking: 1, participants: [1, 2, 3] } };
  const courses: Course[] = [
    { school: first, title: 'Forged', acknowledged: 1 },
    { school: first, title: 'Forged', acknowledged: 'created before' },
  ];
  const lost = await compareWrites(schools, {
    bookings: [...written.bookings, forged],
    courses: [...written.courses, ...courses],
  });

  // A retry without a key after a cut connection.
  const participants = emails.map((email) => ({ firstname: 'Kari', lastname: 'Twice', email }));
  const body = { coursedate_id: first.dateIds[0], payment_method: 'invoice', participants };
  for (let n = 0; n < 2; n += 1) await first.client.post(`${base}/v2/booking`, body);
  const bookings = [...written.bookings, { school: first, emails }];
  const duplicates = await compareWrites(schools, { ...written, bookings });

  const client = await postgres.connect('schools');
  await client.query('delete from order_line_participants where participant_id = (select max(id) from participants)');
  await client.query('alter table participants disable trigger user');
  await client.query('delete from participants where id = (select max(id) from participants)');
  await client.query('alter table participants enable trigger user');
  await client.end();
  const partial = await compareWrites(schools, { ...written, bookings });
  return [
    ...(lost.lost >= 3 ? [] : ['control: a lost write is detected']),
    ...(areAllAcknowledged({ bookings: [], courses: [{ school: first, title: 'Forged' }] })
      ? ['control: an unacknowledged write is detected']
      : []),
    ...(duplicates.duplicates > 0 ? [] : ['control: a duplicate booking is detected']),
    ...(partial.partial > 0 ? [] : ['control: a partial order is detected']),
    ...(partial.wrongCounters ? [] : ['control: a wrong counter is detected']),
  ];
}

function push<T>(map: Map<string, T[]>, name: string, value: T) {
  const found = map.get(name);
  if (found) found.push(value);
  else map.set(name, [value]);
}
