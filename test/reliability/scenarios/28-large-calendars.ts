import { readFileSync } from 'node:fs';
import { hashSecret, newProviderSecret } from '../../../src/core/secrets.ts';
import { failedChecks, pause, percentile, type Run, type Scenario } from '../scenario.ts';
import { createClient } from '../support/client.ts';
import { createSchools, type School, type Schools } from '../support/school.ts';
import { startServer, type Server } from '../support/server.ts';
import { bundle, replaceIn } from '../../support/bundle.ts';

/** Milliseconds that others wait more. */
const limits = { live: 50, others: 20 };
const readers = 8;
/** Those of half the readers, each with persons of its own, whose calendars may be read 30 times a minute. */
const persons = 16;
const readingsOfPerson = 20;
/** This process may be delayed by other work of the machine in some of them. */
const rounds = 3;

const withoutBounds = replaceIn(
  'without-bounds',
  /core\/calendar\.ts$/,
  /maxEvents = 1_000;([^]*?)maxBytes = 1_500_000;([^]*?)eventsPerTurn = 20/,
  'maxEvents = 1_000_000;$1maxBytes = 1e12;$2eventsPerTurn = 1e9',
);
const byUrl = replaceIn(
  'by-url',
  /catalog\/cached-page\.ts$/,
  'readParameters(request.query as Record<string, unknown>);',
  'request.url;',
);

type Setting = Schools & { slugs: string[]; feeds: string[]; anyone: ReturnType<typeof createClient> };

async function prepare(run: Run): Promise<Setting> {
  const schools = await createSchools(run, { count: 4, parameters: { fsync: 'off' } });
  const { env, postgres, all } = schools;
  const [large, personal, many] = all as [School, School, School];
  const anyone = createClient('none');
  run.onCleanup(anyone.close);
  const slugs = all.map(({ id }) => `school-${id}`);
  const server = await startServer(run, env);
  for (const [n, { client }] of all.entries()) {
    const body = JSON.stringify({ enabled: true, slug: slugs[n] });
    const { status, text } = await client.send(`${server.base}/v2/catalog-settings`, { method: 'PUT', body });
    if (status !== 200) throw new Error(text);
  }
  await addDates(postgres, large, 500, 40);
  await addDates(postgres, many, 2_000, 0);
  const dateIds = await addDates(postgres, personal, 50, 200);
  const participants = Array.from({ length: persons }, (_, n) => ({
    ...{ firstname: 'Kari', lastname: `Vik ${n}`, email: `kari${n}@people.example` },
  }));
  for (const id of dateIds) {
    const booking = { coursedate_id: id, payment_method: 'invoice', participants };
    const { status, text } = await personal.client.post(`${server.base}/v2/booking`, booking);
    if (status !== 201) throw new Error(text);
  }
  server.signal('SIGKILL');
  const tokens = participants.map(() => newProviderSecret(personal.id));
  await query(
    postgres,
    `insert into calendar_feeds (provider_id, user_id, hash, created_at)
      select u.provider_id, u.id, f.hash, now() from unnest($2::text[], $3::text[]) f (email, hash)
        join course_users u on u.provider_id = $1 and u.email = f.email returning user_id as id`,
    [personal.id, participants.map(({ email }) => email), tokens.map(hashSecret)],
  );
  return { ...schools, slugs, feeds: tokens.map((token) => `/my/calendar/${token}.ics`), anyone };
}

async function query(postgres: Schools['postgres'], text: string, values: unknown[]) {
  const { Client } = (await import('pg')).default;
  const client = new Client({ connectionString: postgres.url('schools') });
  await client.connect();
  const { rows } = await client.query<{ id: string }>(text, values);
  await client.end();
  return rows;
}

/** Adds dates with as many gatherings each; returns their ids. */
async function addDates(postgres: Schools['postgres'], { id, courseId }: School, dates: number, gatherings: number) {
  const rows = await query(
    postgres,
    `with d as (
      insert into course_dates (provider_id, course_id, title, start_at, end_at, deadline_at, start_time_at, end_time_at,
        zone, teaching_language_id, created_at, updated_at)
      select $1, $2, 'Førstehjelp for båtfolk ' || n, day, day + 300, day, '09:00', '15:00', 'Europe/Oslo', 'no', now(), now()
      from (select n, current_date + 30 + n % 300 as day from generate_series(1, $3::int) n) days returning *),
    g as (
      insert into gatherings (provider_id, course_date_id, gathering_at, gathering_end_at, zone, theme, description,
        created_at, updated_at)
      select $1, id, start_at + m + time '09:00', start_at + m + time '15:00', zone, 'Økt ' || m,
        repeat('Vi øver på det vi lærte sist. ', 8), now(), now() from d, generate_series(1, $4::int) m)
    select id from d`,
    [id, courseId, dates, gatherings],
  );
  return rows.map((row) => Number(row.id));
}

const cpuMs = ({ pid }: Server) => {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]!.split(' ');
  return 10 * (Number(fields[11]) + Number(fields[12]));
};

/** Milliseconds for which the event loop of a server has run. */
const eventLoopMs = ({ pid }: Server) =>
  Number(readFileSync(`/proc/${pid}/task/${pid}/schedstat`, 'utf8').split(' ')[0]) / 1e6;

/** The times of a request every 20 ms until `work` ends. */
async function measureBeside(send: () => Promise<{ status: number; elapsed: number }>, work: () => Promise<unknown>) {
  const times: number[] = [];
  const state = { isOver: false };
  const sending = (async () => {
    while (!state.isOver) {
      const { status, elapsed } = await send();
      times.push(status === 200 ? elapsed : Infinity);
      await pause(20);
    }
  })();
  await work();
  state.isOver = true;
  await sending;
  return { p50: percentile(times, 0.5), p95: percentile(times, 0.95), longest: Math.max(...times) };
}

type Waits = Awaited<ReturnType<typeof measureBeside>>;

/** Readers of large calendars, each of another one, whose schools change every second. `readings` counts those of each. */
async function readCalendars(
  server: Server,
  setting: Setting,
  seconds: number,
  { statuses, readings }: { statuses: Map<number, number>; readings: number[] },
) {
  const { slugs, feeds, anyone, all } = setting;
  const end = performance.now() + 1_000 * seconds;
  const half = readers / 2;
  const ofCatalog = ['', `/courses/${all[0]!.courseId}`].flatMap((path) =>
    ['', '?lang=en'].map((query) => `/catalog/${slugs[0]}${path}/calendar.ics${query}`),
  );
  const reading = readings.map(async (_, n) => {
    while (performance.now() < end) {
      const nextFeed = () => feeds[(Math.floor((readings[n]! += 1) / readingsOfPerson) * half + n) % persons]!;
      const path = n < half ? nextFeed() : ofCatalog[n - half]!;
      const { status } = await anyone.get(`${server.base}${path}`, { timeoutMs: 120_000 });
      statuses.set(status, (statuses.get(status) ?? 0) + 1);
      // Receiving without a pause would delay this process, which measures.
      await pause(250);
    }
  });
  const changing = (async () => {
    for (let n = 1; performance.now() < end; n += 1) {
      for (const { client, dateIds } of all.slice(0, 2)) {
        const url = `${server.base}/v2/coursedates/${dateIds[0]}`;
        await client.send(url, { method: 'PUT', body: JSON.stringify({ reference: `r${n}` }), timeoutMs: 120_000 });
      }
      await pause(1_000);
    }
  })();
  await Promise.all([...reading, changing]);
}

/** Six connections send 600 requests that differ in a parameter. */
async function flood(server: Server, { slugs, anyone }: Setting, name: string, count: number) {
  let n = 0;
  const sending = Array.from({ length: 6 }, async () => {
    while (n < count) {
      n += 1;
      await anyone.get(`${server.base}/catalog/${slugs[2]}/calendar.ics?${name}=${n}`, { timeoutMs: 120_000 });
    }
  });
  await Promise.all(sending);
}

async function observe(server: Server, setting: Setting, { seconds, count }: { seconds: number; count: number }) {
  const { anyone, all, slugs, feeds } = setting;
  /** While `/live` waits, the event loop runs for others. Without the time in which the machine does other work. */
  const live = async () => {
    const before = eventLoopMs(server);
    const { status } = await anyone.get(`${server.base}/live`, { timeoutMs: 60_000 });
    return { status, elapsed: eventLoopMs(server) - before };
  };
  const other = () => all[3]!.client.get(`${server.base}/v2/courses?limit=10`, { timeoutMs: 60_000 });
  await other();
  const started = cpuMs(server);
  const statuses = new Map<number, number>();
  const seen = { statuses, readings: Array<number>(readers).fill(0) };
  const [alone, beside]: Waits[][] = [[], []];
  for (let n = 0; n < rounds; n += 1) {
    alone!.push(await measureBeside(live, () => pause((1_000 * seconds) / rounds)));
    beside!.push(await measureBeside(live, () => readCalendars(server, setting, seconds / rounds, seen)));
  }
  const readingCpu = cpuMs(server) - started;

  const calendars = [];
  for (const path of [`/catalog/${slugs[0]}/calendar.ics`, feeds[0]!]) {
    const { text, headers } = await anyone.get(`${server.base}${path}`, { timeoutMs: 60_000 });
    const etag = String(headers['etag']);
    const before = cpuMs(server);
    const { status } = await anyone.get(`${server.base}${path}`, {
      headers: { 'if-none-match': etag },
      timeoutMs: 60_000,
    });
    calendars.push({ events: text.split('BEGIN:VEVENT').length - 1, status, cpu: cpuMs(server) - before });
  }
  const others = await measureBeside(other, () => pause(2_000));
  const floods = [];
  for (const name of ['x', 'tag']) {
    const before = cpuMs(server);
    const { p50 } = await measureBeside(other, () => flood(server, setting, name, count));
    floods.push({ name, p50, cpu: cpuMs(server) - before });
  }
  return { alone: alone!, beside: beside!, statuses, readingCpu, calendars, others, floods };
}
type Seen = Awaited<ReturnType<typeof observe>>;

const ms = (value: number) => `${value.toFixed(0)} ms`;
const describeWaits = (waits: Waits[]) => waits.map(({ p95, longest }) => `${ms(p95)} ${ms(longest)}`).join(', ');
const describe = ({ alone, beside, statuses, readingCpu, calendars, others, floods }: Seen) =>
  [
    `/live, p95 and longest of the event loop, ${describeWaits(alone)} alone, ${describeWaits(beside)} beside ${readers} readers`,
    `${[...statuses].map(([status, n]) => `${n} × ${status}`).join(', ')}, ${ms(readingCpu)} of CPU`,
    calendars.map(({ events, status, cpu }) => `${events} events, then ${status} for ${ms(cpu)} of CPU`).join('; '),
    `others' p50 ${ms(others.p50)} alone, ${floods.map(({ name, p50, cpu }) => `${ms(p50)} beside ?${name}=… (${ms(cpu)} of CPU)`).join(', ')}`,
  ].join('; ');
/** In most rounds some request waits longer than alone. */
const isLiveLate = ({ alone, beside }: Seen) => {
  const [before, after] = [alone, beside].map((waits) => waits.map(({ longest }) => longest)) as [number[], number[]];
  return percentile(after, 0.5) - percentile(before, 0.5) > limits.live;
};
const isOtherLate = ({ others, floods }: Seen) =>
  floods.some(({ p50 }) => p50 > Math.max(limits.others, 3 * others.p50));

const scenario: Scenario = {
  name: 'large calendars',
  quick: false,
  async run(run) {
    const setting = await prepare(run);
    const quiet = { ...setting.env, LOG_LEVEL: 'error' };
    const size = run.quick ? { seconds: 5, count: 60 } : { seconds: 15, count: 600 };
    const seen = await observe(await startServer(run, quiet), setting, size);
    const command = [process.execPath, await bundle('src/main.ts', [withoutBounds, byUrl])];
    const control = await observe(await startServer(run, quiet, { command }), setting, { seconds: 5, count: 60 });
    return {
      figures: `${describe(seen)}; control, without bounds and by URL: ${describe(control)}`,
      failures: failedChecks({
        [`/live waits at most ${limits.live} ms more`]: !isLiveLate(seen),
        'a calendar has at most 1,000 events': seen.calendars.every(({ events }) => events > 0 && events <= 1_000),
        'a copy that is current is 304 and costs nothing': seen.calendars.every(
          (one) => one.status === 304 && one.cpu <= 20,
        ),
        'all readers are answered': [...seen.statuses.keys()].every((status) => status === 200),
        'others do not wait beside unknown parameters': !isOtherLate(seen),
        'control: /live waits': isLiveLate(control),
        'control: others wait, or the requests cost more':
          isOtherLate(control) || control.floods[0]!.cpu > (10 * (seen.floods[0]!.cpu * 60)) / size.count,
      }),
    };
  },
};
export default scenario;
