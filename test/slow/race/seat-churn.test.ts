import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { addDate } from '../../support/dates.ts';
import { startServers } from '../../support/servers.ts';

const workers = 50;
const dates = 20;
/** Runs a minute with `CHURN_SECONDS=60`; the assertions are the same. */
const seconds = Number(process.env['CHURN_SECONDS'] ?? 10);

/** Workers book, deregister and move participants on two servers while the counters are compared with a recount. */
async function churn(unlocked: boolean) {
  const servers = await startServers({ unlocked });
  const { pool } = servers.database;
  // Records promotions by a trigger.
  await pool.query(`create table moves (participant_id bigint, before smallint, after smallint);
    create function note_move() returns trigger language plpgsql as
      $$ begin insert into moves values (new.id, old.status_id, new.status_id); return new; end $$;
    create trigger note_move after update on participants for each row
      when (old.status_id <> new.status_id) execute function note_move()`);
  const me = await servers.createProvider();
  const call = servers.createCaller(me.apiKey);
  const courseId = await me.course();
  const capacities = { capacityMax: 6, capacityOverbook: 2, capacityWait: 4 };
  const ids: number[] = [];
  for (let n = 0; n < dates; n += 1) ids.push(await addDate(me, courseId, capacities));
  // On these some request the waiting list and may wait beside free seats; on the others nobody may.
  const query = ids.slice(0, dates / 2);

  const errors: unknown[] = [];
  const bookings: { id: string; dateId: number; participants: number[] }[] = [];
  const done = { booked: 0, refused: 0, deregistered: 0, moved: 0 };
  const wrong: unknown[] = [];
  const since = performance.now();
  /** On a busy machine it continues until every kind of change has happened; the control ends at its first miscount. */
  const goesOn = () => {
    if (unlocked && wrong.length > 0) return false;
    const passed = (performance.now() - since) / 1_000;
    return passed < seconds || (passed < seconds + 90 && Object.values(done).includes(0));
  };
  const work = async (worker: number) => {
    for (let n = worker; goesOn(); n += 7) {
      const some = bookings[n % Math.max(1, bookings.length)];
      if (n % 3 === 0 && some) {
        const { status, body } = await call('PUT', `/v2/booking/${some.id}/deregister`, {});
        if (status === 200) done.deregistered += 1;
        else errors.push(body);
      } else if (n % 5 < 2 && some) {
        // One of the latest, who probably still has a seat.
        const { dateId, participants } = bookings.at(-1 - (n % Math.min(50, bookings.length)))!;
        const statuses = query.includes(dateId) ? [3, 8, 1, 4, 7] : [8, 1, 4, 7];
        const idStatus = statuses[Math.floor(n / 5) % statuses.length];
        const { status, body } = await call('PUT', `/v2/participants/${participants[0]}`, { idStatus });
        if (status === 200) done.moved += 1;
        // Deregistered and waiting participants take no seat; the waiting list has no limit here.
        else if (status !== 400) errors.push(body);
      } else {
        const person = (one: number) => ({
          firstname: 'W',
          lastname: `${worker}-${n}-${one}`,
          email: `${worker}@x.example`,
        });
        const dateId = ids[n % dates]!;
        const { status, body } = await call('POST', '/v2/booking', {
          coursedate_id: dateId,
          payment_method: 'invoice',
          participants: n % 4 === 0 ? [person(1), person(2)] : [person(1)],
          config: { waiting_list_when_full: true },
        });
        if (status === 201) {
          done.booked += 1;
          const participants = body.summary.participants.map(({ id }: { id: number }) => id);
          bookings.push({ id: body.summary.booking_id, dateId, participants });
        } else if (status === 400 && body.errors[0].code === 'no_seats_available') done.refused += 1;
        else errors.push(body);
      }
    }
  };

  let samples = 0;
  const watch = async () => {
    while (goesOn()) {
      const { rows } = await pool.query(recount, [me.id, query]);
      samples += 1;
      wrong.push(...(rows as unknown[]));
      await sleep(50);
    }
  };
  await Promise.all([watch(), ...Array.from({ length: workers }, (_, worker) => work(worker))]);
  wrong.push(...((await pool.query(recount, [me.id, query])).rows as unknown[]));
  const { rows: twice } = await pool.query(
    `select participant_id from moves group by 1
      having count(*) filter (where before = 3 and after in (1, 2)) > 1 and count(*) filter (where after = 3) = 0`,
  );
  const { rows: demoted } = await pool.query(`select participant_id from moves where before in (1, 7) and after = 2`);
  const { rows: counts } = await pool.query<Record<string, number>>(
    `select count(*) filter (where before = 3 and after in (1, 2))::int as promoted,
      count(*) filter (where before in (1, 2, 7) and after = 8)::int as "left with a fee",
      count(*) filter (where before in (1, 2, 7) and after = 3)::int as "gave a place up to wait" from moves`,
  );
  return { errors, wrong, twice, demoted, samples, done: { ...done, ...counts[0] } };
}

/**
 * One statement, so one snapshot: counters with a recount, overfull dates, and participants who wait beside a free seat
 * without having requested it.
 */
const recount = `
  select d.id, d.num_confirmed, d.num_overbooked, d.num_unconfirmed, d.num_waiting, c.*
  from course_dates d cross join lateral (
    select count(*) filter (where status_id = 1) as confirmed, count(*) filter (where status_id = 2) as overbooked,
      count(*) filter (where status_id = 7) as unconfirmed, count(*) filter (where status_id = 3) as waiting
    from participants p where p.provider_id = d.provider_id and p.course_date_id = d.id
  ) c
  where d.provider_id = $1 and (
    (d.num_confirmed, d.num_overbooked, d.num_unconfirmed, d.num_waiting) is distinct from
      (c.confirmed, c.overbooked, c.unconfirmed, c.waiting)
    or c.confirmed + c.overbooked + c.unconfirmed > d.capacity_max + d.capacity_overbook
    or c.waiting > d.capacity_wait
    or (c.waiting > 0 and d.id <> all ($2) and c.confirmed + c.overbooked + c.unconfirmed < d.capacity_max + d.capacity_overbook)
    or (c.overbooked > 0 and c.confirmed + c.unconfirmed < d.capacity_max)
  )`;

test(`${workers} workers over ${dates} dates: counters equal a recount at every sample, each is promoted once`, async () => {
  const { samples, done, ...faulty } = await churn(false);
  expect(faulty).toEqual({ errors: [], wrong: [], twice: [], demoted: [] });
  expect(samples).toBeGreaterThan(seconds);
  for (const [what, count] of Object.entries(done)) expect(count, what).toBeGreaterThan(0);
});

test('negative control: without lock, queue and trigger seats are sold twice', async () => {
  const { wrong, twice, demoted } = await churn(true);
  expect(wrong.length + twice.length + demoted.length).toBeGreaterThan(0);
});
