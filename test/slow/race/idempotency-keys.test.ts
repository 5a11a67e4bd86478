import { Client } from 'pg';
import { expect, test, vi } from 'vitest';
import { person, bookingBody } from '../../support/booking.ts';
import { addDate } from '../../support/dates.ts';
import { startServers } from '../../support/servers.ts';
import { connectionTo } from '../../support/test-app.ts';

const key = { 'idempotency-key': 'one' };

/** Sends 50 equal bookings with one key to two servers at once and counts the rows created. */
async function sendCopies(unlocked = false) {
  const servers = await startServers({ unlocked });
  const school = async () => {
    const me = await servers.createProvider();
    const call = servers.createCaller(me.apiKey);
    const dateId = await addDate(me, await me.course({ price_value: 100 }));
    const payload = bookingBody(dateId, { participants: [person()] });
    const book = (body: object, headers = {}) => call('POST', '/v2/booking', body, headers);
    const there = async () => {
      const { rows } = await servers.database.pool.query<Record<string, number>>(
        `select (select count(*)::int from bookings where provider_id = $1) as bookings,
          (select count(*)::int from orders where provider_id = $1) as orders,
          (select count(*)::int from participants where provider_id = $1) as participants,
          (select count(*)::int from idempotency_records where provider_id = $1) as keys`,
        [me.id],
      );
      return rows[0]!;
    };
    // The course user exists, since only one concurrent request could create it.
    await book(payload);
    return { book, payload, there };
  };
  const [mine, theirs] = [await school(), await school()];
  // Holds the lock until every request may have looked up the key; a busy machine would run them sequentially.
  const existing = unlocked ? await holdBookings(servers.name) : undefined;
  const race = ({ book, payload }: typeof mine) => Array.from({ length: 50 }, () => book(payload, key));
  const racing = Promise.all(race(mine));
  // Only of this server, whose database the control uses.
  await existing?.untilTenWait();
  const theirRacing = Promise.all(race(theirs));
  await existing?.release();
  const [responses, others] = await Promise.all([racing, theirRacing]);
  return { mine, theirs, responses, others };
}

/** Blocks all bookings until released. */
async function holdBookings(name: string) {
  const client = new Client(connectionTo(name));
  await client.connect();
  await client.query('begin');
  await client.query('lock table bookings in exclusive mode');
  // Copies of one database share the ids of their tables.
  const waiting = `
    select count(*)::int as count from pg_locks where not granted and relation = 'bookings'::regclass
      and database = (select oid from pg_database where datname = current_database())`;
  return {
    untilTenWait: () =>
      vi.waitFor(
        async () => {
          const { rows } = await client.query<{ count: number }>(waiting);
          expect(rows[0]!.count).toBeGreaterThanOrEqual(10);
        },
        { timeout: 60_000, interval: 50 },
      ),
    async release() {
      await client.query('rollback');
      await client.end();
    },
  };
}

const different = (responses: { body: unknown }[]) => new Set(responses.map(({ body }) => JSON.stringify(body))).size;
const one = { bookings: 2, orders: 2, participants: 2, keys: 1 };

test('50 equal requests with one key on two servers create one booking per school with equal responses', async () => {
  const { mine, theirs, responses, others } = await sendCopies();
  for (const all of [responses, others]) {
    expect(all.map(({ status }) => status)).toEqual(Array(50).fill(201));
    expect(different(all)).toBe(1);
  }
  expect(responses[0]!.body.summary.order_id).not.toBe(others[0]!.body.summary.order_id);
  expect([await mine.there(), await theirs.there()]).toEqual([one, one]);

  for (const change of [{ participants: [person()] }, { payment_method: 'card' }]) {
    const { status, body } = await mine.book({ ...mine.payload, ...change }, key);
    expect([status, body.errors.map(({ code }: { code: string }) => code)]).toEqual([400, ['idempotency_key_reused']]);
  }
  expect((await mine.book(mine.payload, key)).body).toEqual(responses[0]!.body);
  expect(await mine.there()).toEqual(one);
});

test('negative control: without lock, queue and trigger several bookings are created', async () => {
  const { mine, responses } = await sendCopies(true);
  expect(different(responses)).toBeGreaterThan(1);
  expect((await mine.there())['bookings']).toBeGreaterThan(2);
});
