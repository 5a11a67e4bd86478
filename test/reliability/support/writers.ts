import { pause } from '../row.ts';
import type { Answer } from './client.ts';
import { cli, type School, type Schools } from './school.ts';

/** A booking and its response; its `emails` are unique. */
type Booking = { school: School; emails: string[]; said?: Said };
/** The id, or that its title exists, since an attempt whose response was lost created it. */
type Course = { school: School; title: string; said?: number | 'made before' };

/** Knowledge of the clients at the end: acknowledged and uncertain writes. */
export type Written = { bookings: Booking[]; courses: Course[] };

export type Writers = {
  written: Written;
  /** Responses per status; 0 are cut connections. */
  statuses: Map<number, number>;
  /** Responses that must never occur. */
  surprises: string[];
  /** Stops the writers after their current write; times out after `patience`. */
  stop(milliseconds?: number): Promise<void>;
};

type WritersOptions = {
  count?: number;
  base: () => string;
  /** Timeout in milliseconds before a client retries. */
  patience?: number;
  /** Sends an `Idempotency-Key`; without it requests are retried all the same. */
  keys?: boolean;
  /** Keeps the names of several writer sets on one database distinct. */
  name?: string;
};

/** Clients that write sequentially and retry each write until it is acknowledged. */
export function startWriters(
  schools: School[],
  { count = 16, base, patience = 12_000, keys = true, name = 'writer' }: WritersOptions,
): Writers {
  const written: Written = { bookings: [], courses: [] };
  const statuses = new Map<number, number>();
  const surprises: string[] = [];
  let stopping = false;
  let giveUpAt = Infinity;

  /** Retries until there is a definite response; undefined if given up. */
  async function persistently(send: () => Promise<Answer>) {
    for (let attempt = 1; performance.now() < giveUpAt; attempt += 1) {
      const answer = await send();
      statuses.set(answer.status, (statuses.get(answer.status) ?? 0) + 1);
      if (answer.status === 503 && answer.headers['retry-after'] === undefined) surprises.push('503, no Retry-After');
      if (answer.status !== 0 && answer.status !== 503) return { answer, attempt };
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
    const headers: Record<string, string> = keys ? { 'idempotency-key': id } : {};
    const got = await persistently(() =>
      school.client.post(
        `${base()}/v2/booking`,
        { coursedate_id, payment_method: 'invoice', participants },
        { headers, patience },
      ),
    );
    if (got?.answer.status === 201) booking.said = saidIn(got.answer.text);
    else if (got) surprises.push(`a booking: ${got.answer.status} ${got.answer.text}`);
  }

  async function createCourse(school: School, title: string) {
    const course: Course = { school, title };
    written.courses.push(course);
    const got = await persistently(() => school.client.post(`${base()}/v2/courses`, { title }, { patience }));
    if (got?.answer.status === 201) course.said = (JSON.parse(got.answer.text) as { course_id: number }).course_id;
    else if (got && got.attempt > 1 && isTaken(got.answer)) course.said = 'made before';
    else if (got) surprises.push(`a course: ${got.answer.status} ${got.answer.text}`);
  }

  async function write(writer: number) {
    const school = schools[writer % schools.length]!;
    for (let n = 0; !stopping; n += 1) {
      const id = `${name}-${writer}-${n}`;
      await (n % 3 === 2 ? createCourse(school, id) : book(school, id));
    }
  }

  const all = Promise.all(Array.from({ length: count }, (_, writer) => write(writer)));
  return {
    ...{ written, statuses, surprises },
    stop: async (milliseconds = 20_000) => {
      stopping = true;
      giveUpAt = performance.now() + milliseconds;
      await all;
    },
  };
}

const isTaken = ({ status, text }: Answer) => status === 400 && text.includes('with an equal title exists');

/** True for each write acknowledged in the end. */
export const areAllTold = ({ bookings, courses }: Written) =>
  [...bookings, ...courses].every(({ said }) => said !== undefined);

type Said = { order: number; booking: number; participants: number[] };
type Summary = { order_id: string; booking_id: string; participants: { id: number }[] };

/** Acknowledged ids of a booking response. */
export function saidIn(text: string): Said {
  const { summary } = JSON.parse(text) as { summary: Summary };
  const participants = summary.participants.map(({ id }) => id);
  return { order: Number(summary.order_id), booking: Number(summary.booking_id), participants };
}

const orders = `select o.id as order, o.provider_id as provider,
    (select count(*) from bookings b where b.provider_id = o.provider_id and b.order_id = o.id)::int as bookings,
    (select min(b.id) from bookings b where b.provider_id = o.provider_id and b.order_id = o.id) as booking,
    (select coalesce(sum(l.quantity), 0) from order_lines l where l.provider_id = o.provider_id and l.order_id = o.id)::int as quantity,
    (select count(*) from order_lines l join order_line_participants p
       on p.provider_id = l.provider_id and p.order_line_id = l.id
     where l.provider_id = o.provider_id and l.order_id = o.id)::int as paid,
    (select coalesce(json_agg(json_build_object('id', p.id, 'email', u.email) order by p.id), '[]')
     from bookings b join participants p on p.provider_id = b.provider_id and p.booking_id = b.id
       join course_users u on u.provider_id = p.provider_id and u.id = p.user_id
     where b.provider_id = o.provider_id and b.order_id = o.id) as participants
  from orders o`;
type Order = {
  order: string;
  provider: string;
  bookings: number;
  booking: string | null;
  quantity: number;
  paid: number;
  participants: { id: number; email: string }[];
};

export type Kept = { lost: number; twice: number; half: number; unasked: number; miscounted: boolean };

/** Compares the database with the clients' knowledge. */
export async function compare({ postgres, env }: Schools, { bookings, courses }: Written): Promise<Kept> {
  const client = await postgres.connect('schools');
  const { rows: made } = await client.query<Order>(orders);
  const { rows: titles } = await client.query<{ id: string; provider: string; title: string }>(
    'select id, provider_id as provider, title from courses',
  );
  const { rows: people } = await client.query<{ email: string }>('select email from course_users');
  await client.end();

  const byEmail = new Map<string, Order[]>();
  for (const order of made) for (const { email } of order.participants) push(byEmail, email, order);
  const byTitle = new Map<string, { id: string }[]>();
  for (const course of titles) push(byTitle, `${course.provider} ${course.title}`, course);
  const asked = new Set(bookings.flatMap(({ emails }) => emails));

  const ordersOf = ({ emails }: Booking) => [...new Set(emails.flatMap((email) => byEmail.get(email) ?? []))];
  const coursesOf = ({ school, title }: Course) => byTitle.get(`${school.id} ${title}`) ?? [];
  const isThere = ({ said, ...course }: Course) =>
    said === undefined || coursesOf(course).some(({ id }) => said === 'made before' || Number(id) === said);
  const isKept = ({ said, school, ...booking }: Booking) =>
    said === undefined ||
    ordersOf({ school, ...booking }).some(
      (order) =>
        Number(order.order) === said.order &&
        Number(order.booking) === said.booking &&
        Number(order.provider) === school.id &&
        said.participants.every((id, n) => order.participants[n]?.id === id),
    );
  const isWhole = (order: Order) =>
    order.bookings === 1 && [order.quantity, order.paid, order.participants.length].every((count) => count === 3);
  const doctor = await cli(env, 'doctor');
  return {
    lost: bookings.filter((booking) => !isKept(booking)).length + courses.filter((course) => !isThere(course)).length,
    twice:
      bookings.filter((booking) => ordersOf(booking).length > 1).length +
      courses.filter((course) => coursesOf(course).length > 1).length,
    half: made.filter((order) => !isWhole(order)).length,
    // A user without an order is a partial booking, too.
    unasked: people.filter(({ email }) => !asked.has(email) || !byEmail.has(email)).length,
    miscounted: doctor.code !== 0,
  };
}

/** Describes the differences. */
export const faultsOfKept = ({ lost, twice, half, unasked, miscounted }: Kept): Record<string, boolean> => ({
  [`every acknowledged write is there (${lost} are not)`]: lost === 0,
  [`nothing is there twice (${twice} are)`]: twice === 0,
  [`no order is half there (${half} are)`]: half === 0,
  [`nobody is there without an order (${unasked} are)`]: unasked === 0,
  'counters and totals equal the recount': !miscounted,
});

/** Negative control: causes each fault and returns those that `compare` does not detect. Leaves the data unusable. */
export async function overlooked(schools: Schools, base: string, written: Written): Promise<string[]> {
  const { first, postgres } = schools;
  const emails = ['forged-0@people.example', 'forged-1@people.example', 'forged-2@people.example'];
  const forged = { school: first, emails, said: { order: 1, booking: 1, participants: [1, 2, 3] } };
  const courses: Course[] = [
    { school: first, title: 'Forged', said: 1 },
    { school: first, title: 'Forged', said: 'made before' },
  ];
  const lost = await compare(schools, {
    bookings: [...written.bookings, forged],
    courses: [...written.courses, ...courses],
  });

  // A retry without a key after a cut connection.
  const participants = emails.map((email) => ({ firstname: 'Kari', lastname: 'Twice', email }));
  const body = { coursedate_id: first.dateIds[0], payment_method: 'invoice', participants };
  for (let n = 0; n < 2; n += 1) await first.client.post(`${base}/v2/booking`, body);
  const bookings = [...written.bookings, { school: first, emails }];
  const twice = await compare(schools, { ...written, bookings });

  const client = await postgres.connect('schools');
  await client.query('delete from order_line_participants where participant_id = (select max(id) from participants)');
  await client.query('alter table participants disable trigger user');
  await client.query('delete from participants where id = (select max(id) from participants)');
  await client.query('alter table participants enable trigger user');
  await client.end();
  const half = await compare(schools, { ...written, bookings });
  return [
    ...(lost.lost >= 3 ? [] : ['the look finds a lost write']),
    ...(areAllTold({ bookings: [], courses: [{ school: first, title: 'Forged' }] })
      ? ['the look finds an untold write']
      : []),
    ...(twice.twice > 0 ? [] : ['the look finds a booking made twice']),
    ...(half.half > 0 ? [] : ['the look finds half an order']),
    ...(half.miscounted ? [] : ['the look finds a wrong counter']),
  ];
}

function push<T>(map: Map<string, T[]>, name: string, value: T) {
  const found = map.get(name);
  if (found) found.push(value);
  else map.set(name, [value]);
}
