import { randomUUID } from 'node:crypto';
import { pause } from '../scenario.ts';
import { createClient, type Client } from './client.ts';

/** A school with dates of few seats and a voucher, and what its clients know of it. */
export type MixedSchool = {
  id: number;
  client: Client;
  voucher: string;
  dates: Date[];
  bookings: { order: number; participants: number[] }[];
  payments: { id: number; order: number; amount: number; isReversed: boolean }[];
};
type Date = { id: number; courseId: number; isCanceled: boolean };
type Random = () => number;

const capacities = { capacity_max: 5, capacity_overbook: 1, capacity_wait: 6 };
const prices = [333, 1000, 1, 1249];
const campaign_code = 'THIRD';

/** Adds courses of several prices, and dates; every second one offers its free places. */
export async function fillSchool(base: string, id: number, apiKey: string, dates: number): Promise<MixedSchool> {
  const client = createClient(apiKey);
  const school: MixedSchool = { ...{ id, client, voucher: `GIFT-${id}` }, dates: [], bookings: [], payments: [] };
  const create = async (path: string, body: object) => {
    const { status, text } = await client.post(`${base}${path}`, body);
    if (status !== 201) throw new Error(`${path}: ${status} ${text}`);
    return JSON.parse(text) as { course_id: number; coursedate_id: number };
  };
  await create('/v2/vouchers', { code: school.voucher, amount: 20_000 });
  await create('/v2/campaigns', { title: 'A third', campaign_code, discount_type: 'Percent', discount_value: 33.33 });
  const courses = await Promise.all(
    prices.map((price_value, n) => create('/v2/courses', { title: `Course ${n}`, price_value })),
  );
  for (let n = 0; n < dates; n += 1) {
    const courseId = courses[n % courses.length]!.course_id;
    const waiting = n % 2 === 0 ? { waiting_mode: 'offer', offer_hours: 24 } : {};
    const date = { start_at: '2035-06-10', end_at: '2035-06-11', ...capacities, ...waiting };
    const { coursedate_id } = await create(`/v2/courses/${courseId}/coursedates`, date);
    school.dates.push({ id: coursedate_id, courseId, isCanceled: false });
  }
  return school;
}

/** A request, and what its success tells. */
type Operation = { method: string; path: string; body?: object; learn?: (response: any) => void };
const pick = <T>(all: T[], random: Random): T | undefined => all[Math.floor(random() * all.length)];

const operations = {
  book(school: MixedSchool, random: Random): Operation {
    const [id, count] = [randomUUID(), 1 + Math.floor(random() * 3)];
    const person = (n: number) => ({
      firstname: 'Kari',
      lastname: `Nordmann ${n}`,
      email: `${id}-${n}@people.example`,
    });
    const body = {
      coursedate_id: pick(school.dates, random)!.id,
      payment_method: 'invoice',
      participants: Array.from({ length: count }, (_, n) => person(n)),
      config: { waiting_list_when_full: true },
      ...(random() < 0.3 && { voucher_code: school.voucher }),
      ...(random() < 0.3 && { campaign_code }),
    };
    return { method: 'POST', path: '/v2/booking', body, learn: learnBooking(school) };
  },
  reserve(school: MixedSchool, random: Random): Operation {
    const booker = { booker: 'Group', booker_email: `${randomUUID()}@people.example` };
    const body = { coursedate_id: pick(school.dates, random)!.id, payment_method: 'invoice', ...booker };
    const places = 1 + Math.floor(random() * 3);
    return { method: 'POST', path: '/v2/booking', body: { ...body, places }, learn: learnBooking(school) };
  },
  status: (school: MixedSchool, random: Random) =>
    participant(school, random, 'PUT', '', { idStatus: pick([4, 8, 8, 1, 7], random) }),
  swap: (school: MixedSchool, random: Random) =>
    participant(school, random, 'PUT', '', {
      user: { firstname: 'Ola', lastname: 'Nordmann', email: `${randomUUID()}@people.example` },
    }),
  move: (school: MixedSchool, random: Random) =>
    participant(school, random, 'POST', '/move', {
      coursedate_id: pick(school.dates, random)!.id,
      price: pick(['keep', 'difference'], random),
    }),
  pay(school: MixedSchool, random: Random): Operation | undefined {
    const order = pick(school.bookings, random)?.order;
    if (order === undefined) return undefined;
    const body = random() < 0.5 ? {} : { amount: Math.ceil(random() * 50_000) / 100 };
    const learn = ({ id, amount }: { id: number; amount: number }) =>
      void school.payments.push({ id, order, amount, isReversed: false });
    return { method: 'POST', path: `/v2/orders/${order}/payments`, body, learn };
  },
  reverse(school: MixedSchool, random: Random): Operation | undefined {
    const payment = pick(school.payments, random);
    if (payment === undefined) return undefined;
    const learn = () => void (payment.isReversed = true);
    return { method: 'DELETE', path: `/v2/orders/${payment.order}/payments/${payment.id}`, learn };
  },
  credit(school: MixedSchool, random: Random): Operation | undefined {
    const order = pick(school.bookings, random)?.order;
    if (order === undefined) return undefined;
    const learn = ({ id }: { id: number }) => void school.bookings.push({ order: id, participants: [] });
    const body = { deregister: random() < 0.5, ...(random() < 0.3 && { fee: 0.5 }) };
    return { method: 'POST', path: `/v2/orders/${order}/credit`, body, learn };
  },
  cancel(school: MixedSchool, random: Random): Operation | undefined {
    const date = pick(school.dates, random)!;
    if (random() > 0.05) return undefined;
    const body = { message: 'The instructor is ill', credit: true, send_mail: true };
    const learn = () => void (date.isCanceled = true);
    return { method: 'POST', path: `/v2/courses/${date.courseId}/coursedates/${date.id}/cancel`, body, learn };
  },
};
export type Kind = keyof typeof operations;

const shares: Record<Kind, number> = {
  ...{ book: 30, reserve: 6, status: 20, swap: 8, move: 12, pay: 10, reverse: 4, credit: 8, cancel: 2 },
};
const kinds = Object.entries(shares).flatMap(([kind, share]) => Array.from({ length: share }, () => kind as Kind));

type Summary = { order_id: string; participants: { id: number }[] };
const learnBooking =
  ({ bookings }: MixedSchool) =>
  ({ summary }: { summary: Summary }) =>
    void bookings.push({ order: Number(summary.order_id), participants: summary.participants.map(({ id }) => id) });

function participant(
  { bookings }: MixedSchool,
  random: Random,
  method: string,
  action: string,
  body: object,
): Operation | undefined {
  const id = pick(pick(bookings, random)?.participants ?? [], random);
  return id === undefined ? undefined : { method, path: `/v2/participants/${id}${action}`, body };
}

export type Clients = {
  /** Successes of each kind. */
  done: Map<Kind, number>;
  /** Operations that the service refused by its rules. */
  refused: number;
  cut: number;
  unexpected: string[];
  stop(): Promise<void>;
};

/** Clients that send random operations, each until it is answered. `base` is asked anew for each attempt. */
export function startClients(
  schools: MixedSchool[],
  base: () => string,
  { count = 16, random }: { count?: number; random: Random },
): Clients {
  const clients = { done: new Map<Kind, number>(), refused: 0, cut: 0, unexpected: [] as string[] };
  let stopping = false;
  async function work(n: number) {
    const school = schools[n % schools.length]!;
    while (!stopping) {
      const kind = pick(kinds, random)!;
      const operation = operations[kind](school, random);
      if (operation) await perform(school, kind, operation);
    }
  }
  async function perform({ client }: MixedSchool, kind: Kind, { method, path, body, learn }: Operation) {
    const headers: Record<string, string> = method === 'POST' ? { 'idempotency-key': randomUUID() } : {};
    for (let attempt = 1; attempt <= 200; attempt += 1) {
      const sent = body === undefined ? {} : { body: JSON.stringify(body) };
      const { status, text } = await client.send(`${base()}${path}`, { method, headers, ...sent, timeoutMs: 12_000 });
      if (status === 0) clients.cut += 1;
      if (status === 0 || status === 503) {
        await pause(100);
        continue;
      }
      if (status < 300) {
        clients.done.set(kind, (clients.done.get(kind) ?? 0) + 1);
        learn?.(JSON.parse(text === '' ? '{}' : text));
      } else if (status < 500) clients.refused += 1;
      else clients.unexpected.push(`${kind}: ${status} ${text}`);
      return;
    }
    clients.unexpected.push(`${kind}: never answered`);
  }
  const all = Promise.all(Array.from({ length: count }, (_, n) => work(n)));
  return Object.assign(clients, {
    stop: async () => {
      stopping = true;
      await all;
    },
  });
}
