import { setTimeout as pause } from 'node:timers/promises';
import { queueDueReminders } from '../../src/domains/messages/mails/queue-service.ts';
import { connections } from './booking.ts';
import type { Subject } from './database.ts';
import { round } from './cost.ts';
import { alternate, median } from './figures.ts';
import type { Goal } from './goals.ts';
import { startMailSink } from './mail-sink.ts';
import { runDriver, warmUpSeconds, type Latencies } from './open-loop.ts';
import { createOtherSchools, createRemindingSchool, reminders, setReminders } from './reminder-data.ts';
import { withServer } from './server.ts';

/** Mails a minute: the default of `MAIL_RATE`, and more than a server sends here. */
const [defaultRate, highRate] = [600, 60_000];

type School = { subject: Subject; providerId: number; sink: Awaited<ReturnType<typeof startMailSink>> };
type Book = (seconds: number) => Promise<Latencies>;
type Turn = Latencies & { queuedMs: number; perMinute: number; repeated: number };

/**
 * Bookings of other schools in turns without and with 10,000 reminders of one school. They become due in a turn, are
 * queued and go out at the default rate. In the end all go out at a high rate, beside bookings.
 */
export async function measureReminders(subject: Subject, { rounds, seconds }: { rounds: number; seconds: number }) {
  const sink = await startMailSink();
  try {
    const school = { subject, providerId: await createRemindingSchool(subject), sink };
    const requests = await createOtherSchools(subject);
    const withBookings = <T>(rate: number, work: (book: Book) => Promise<T>) =>
      withServer(subject, { SMTP_URL: sink.url, MAIL_RATE: String(rate) }, ({ base }) =>
        work(createBook(base, requests)),
      );
    const turns = await withBookings(defaultRate, async (book) => {
      await book(1);
      const all: [Latencies, Turn][] = [];
      for (let round = 0; round < rounds; round += 1) {
        let turn: Turn | undefined;
        const remind = async () => (turn = await remindBesideBookings(school, book, seconds));
        const [without] = await alternate<Latencies>(round, () => book(seconds), remind);
        all.push([without, turn!]);
      }
      return all;
    });
    return { turns, atOnce: await withBookings(highRate, (book) => sendAll(school, book, seconds)) };
  } finally {
    await sink.close();
  }
}

/** Books as fast as responses arrive. */
const createBook = (base: string, requests: { apiKey: string; body: string }[]): Book => {
  const targets = requests.map(({ apiKey, body }) => ({
    ...{ url: `${base}/v2/booking`, method: 'POST' as const, body },
    headers: { 'x-api-key': apiKey, 'content-type': 'application/json' },
  }));
  return (seconds) => runDriver({ targets, seconds, connections }, '201');
};

/** Queues all reminders as the server does each minute. */
async function queueAll({ subject, providerId }: School) {
  await setReminders(subject, providerId, { due: true });
  const startedAt = performance.now();
  await queueDueReminders(subject.database);
  return performance.now() - startedAt;
}

async function remindBesideBookings(school: School, book: Book, seconds: number): Promise<Turn> {
  const { subject, providerId, sink } = school;
  sink.accepted.length = 0;
  // Once in the quarter of an hour in which they go out; not a part of each turn.
  const startedAt = performance.now();
  const queuedMs = await queueAll(school);
  const latencies = await book(seconds);
  const mails = [...sink.accepted];
  await setReminders(subject, providerId, { due: false });
  // Those in progress.
  await pause(1_000);
  const { length } = mails;
  const perMinute = (60_000 * length) / (mails[length - 1]!.at - startedAt);
  return { ...latencies, queuedMs, perMinute, repeated: length - new Set(mails.map(({ address }) => address)).size };
}

/** All reminders go out. */
async function sendAll(school: School, book: Book, seconds: number) {
  const { accepted } = school.sink;
  accepted.length = 0;
  const without = await book(seconds);
  const booked = book(seconds);
  await pause(warmUpSeconds * 1_000);
  await queueAll(school);
  const latencies = await booked;
  const besideBookings = accepted.length;
  while (await hasUnsent(school)) await pause(100);
  const { length } = accepted;
  const different = new Set(accepted.map(({ address }) => address)).size;
  return {
    ...{
      without,
      latencies,
      besideBookings,
      perMinute: (60_000 * length) / (accepted[length - 1]!.at - accepted[0]!.at),
    },
    ...{ missing: reminders - different, repeated: length - different },
  };
}

async function hasUnsent({ subject, providerId }: School) {
  const text = 'select exists (select from outbox where provider_id = $1 and sent_at is null) as unsent';
  return (await subject.database.pool.query<{ unsent: boolean }>(text, [providerId])).rows[0]!.unsent;
}

type Measured = Awaited<ReturnType<typeof measureReminders>>;

/** Prints the figures. */
export function reminderGoals({ turns, atOnce }: Measured): Goal[] {
  const [without, beside] = [turns.map(([one]) => one), turns.map(([, one]) => one)];
  const slower = turns.map(([before, now]) => before.perSecond / now.perSecond);
  const toRow = (name: string, all: Latencies[], ratio?: number) => {
    const of = (figure: keyof Latencies) => round(median(all.map((one) => one[figure])));
    const latencies = { 'p50 ms': of('p50'), 'p95 ms': of('p95'), 'p99 ms': of('p99') };
    return {
      name,
      'bookings per s': of('perSecond'),
      ...latencies,
      'time, ratio': ratio === undefined ? '' : round(ratio),
    };
  };
  console.table([
    toRow('without', without),
    toRow(`with, at ${defaultRate} mails a minute`, beside, median(slower)),
    toRow('without', [atOnce.without]),
    toRow('with, as fast as possible', [atOnce.latencies], atOnce.without.perSecond / atOnce.latencies.perSecond),
  ]);
  const perMinute = Math.max(...beside.map((turn) => turn.perMinute));
  const queued = beside.map(({ queuedMs }) => `${Math.round(queuedMs)} ms`).join(', ');
  console.log(
    `time ratio of the rounds: ${slower.map(round).join(', ')}; ${reminders} reminders queued in ${queued}; ` +
      `as fast as possible: ${Math.round(atOnce.perMinute)} mails a minute, ${atOnce.besideBookings} of them beside bookings`,
  );
  const atMost = true as const;
  const isWrong = [...beside, atOnce].reduce((sum, { repeated }) => sum + repeated, atOnce.missing);
  return [
    { name: 'time of a booking beside reminders, relative to without', must: 1.05, atMost, measured: median(slower) },
    { name: 'reminders a minute, at a rate of 600', must: 1.01 * defaultRate, atMost, measured: perMinute },
    { name: 'reminders that are missing or sent twice', must: 0, atMost, measured: isWrong },
  ];
}
