import type { Client } from 'pg';
import { createLink } from '../../../src/domains/messages/links/service.ts';
import { bundle, replaceIn } from '../../support/bundle.ts';
import { failedChecks, pause, waitUntil, type Scenario } from '../scenario.ts';
import { formEnv, openBookingForm } from '../support/booking-form.ts';
import type { HttpResponse } from '../support/client.ts';
import { fillOtherSchools } from '../support/large-database.ts';
import { countStatuses } from '../support/load.ts';
import { createSchools, type School } from '../support/school.ts';
import { startServer, type Server } from '../support/server.ts';

/** The longest wait of other writes, in milliseconds. */
const limitMs = 1_000;
/**
 * A turn in which they wait longer than this without a long-running write, on a machine that is busy with other work,
 * does not count. It is taken again, so that the machine has as much time for each write.
 */
const busyMs = 100;
const maxTurns = 8;

type Stage = {
  server: Server;
  /** It has time for each booking, also on a busy machine. */
  patient: Server;
  school: School;
  database: Client;
  post: Send;
  /** Places that a form may name at once. */
  namedAtOnce: number;
  person: (prefix: string, n?: number) => Person;
};
type Send = (path: string, body?: object) => Promise<HttpResponse>;
type Person = { firstname: string; lastname: string; email: string };
/** Prepares a long-running write, and returns it. */
type Prepare = (stage: Stage) => Promise<() => Promise<HttpResponse>>;

const persons = (prefix: string, count: number, person: Stage['person']) =>
  Array.from({ length: count }, (_, n) => person(prefix, n));

const datesOf = ({ courseId }: School) => `/v2/courses/${courseId}/coursedates`;

async function addDate({ patient, school }: Stage) {
  const date = { start_at: '2035-06-10', end_at: '2035-06-11', capacity_max: 100_000, capacity_wait: 100_000 };
  const { text } = await school.client.post(`${patient.base}${datesOf(school)}`, date);
  return (JSON.parse(text) as { coursedate_id: number }).coursedate_id;
}

async function book(stage: Stage, coursedate_id: number, body: object) {
  const { client } = stage.school;
  const url = `${stage.patient.base}/v2/booking`;
  const { status, text } = await client.post(url, { coursedate_id, payment_method: 'invoice', ...body });
  if (status !== 201) throw new Error(`not booked: ${status} ${text}`);
  return (JSON.parse(text) as { summary: { booking_id: string; order_id: string } }).summary;
}

/** A date with bookings of so many persons each. */
async function addBookedDate(stage: Stage, sizes: number[], fields: object = {}) {
  const dateId = await addDate(stage);
  for (const [n, size] of sizes.entries()) {
    const participants = persons(`on-${dateId}-${n}`, size, stage.person).map((one) => ({ ...one, ...fields }));
    await book(stage, dateId, { participants });
  }
  return `${datesOf(stage.school)}/${dateId}`;
}

const cancelDate =
  (sizes: number[], body: object): Prepare =>
  async (stage) => {
    const path = await addBookedDate(stage, sizes);
    return () => stage.post(`${path}/cancel`, body);
  };

/** A person with so many places. */
async function addPerson(stage: Stage, places: number) {
  const dateId = await addDate(stage);
  const one = stage.person(`busy-${dateId}`);
  for (let n = 0; n < places; n += 1_000) await book(stage, dateId, { participants: Array(1_000).fill(one) });
  const { text } = await stage.school.client.get(`${stage.server.base}/v2/search-users?email=${one.email}`);
  return (JSON.parse(text) as { id: number }[])[0]!.id;
}

const acts: Record<string, Prepare> = {
  'a dry run of 2,000 persons': async (stage) => {
    const dateId = await addDate(stage);
    const bookings = Array.from({ length: 20 }, (_, n) => ({
      ...{ coursedate_id: dateId, payment_method: 'invoice' },
      participants: persons(`dry-${n}`, 100, stage.person),
    }));
    return () => stage.post('/v2/batch/booking', { bookings, dry_run: true });
  },
  'a canceled date with credits for 3 bookings of 1,000': cancelDate([1_000, 1_000, 1_000], { credit: true }),
  'a canceled date with credits for 400 bookings': cancelDate(Array(400).fill(1), { credit: true }),
  'a canceled date of 2,000 persons in 40 bookings': cancelDate(Array(40).fill(50), {}),
  'a credit that deregisters 1,000': async (stage) => {
    const dateId = await addDate(stage);
    const { order_id } = await book(stage, dateId, {
      participants: persons(`credit-${dateId}`, 1_000, stage.person),
    });
    return () => stage.post(`/v2/orders/${order_id}/credit`, { deregister: true });
  },
  'a deleted date for which 400 wait': async (stage) => {
    const path = await addBookedDate(stage, Array(400).fill(1), { status_id: 3 });
    return () => stage.school.client.send(`${stage.server.base}${path}`, { method: 'DELETE' });
  },
  'a date of 2,000 persons that is changed twice': async (stage) => {
    await put(stage, '/v2/booking-settings', { mails: { date_changed: true } });
    const path = await addBookedDate(stage, [1_000, 1_000]);
    await put(stage, path, { start_at: '2035-06-09' });
    return () => put(stage, path, { start_at: '2035-06-08' });
  },
  'a merge of 40,000 places': async (stage) => {
    const [from, into] = [await addPerson(stage, 40_000), await addPerson(stage, 1)];
    return () => stage.post(`/v2/course-users/${from}/merge`, { into });
  },
  'an erasure of 5,000 places': async (stage) => {
    const id = await addPerson(stage, 5_000);
    return () => stage.post(`/v2/course-users/${id}/erase`, {});
  },
  '200 places that are named': async (stage) => {
    const booker = { booker: 'Group', booker_email: stage.person('booker').email };
    const { booking_id } = await book(stage, await addDate(stage), { places: 200, ...booker });
    return nameAll(stage, Number(booking_id));
  },
  'a deregistration of 1,000 persons': async (stage) => {
    const dateId = await addDate(stage);
    const booked = await book(stage, dateId, { participants: persons(`off-${dateId}`, 1_000, stage.person) });
    return () => put(stage, `/v2/booking/${booked.booking_id}/deregister`, {});
  },
  'a canceled date of which 1,000 persons move': async (stage) => {
    const dateId = await addDate(stage);
    await book(stage, dateId, { participants: persons(`move-${dateId}`, 1_000, stage.person) });
    const move_to = await addDate(stage);
    return () => stage.post(`${datesOf(stage.school)}/${dateId}/cancel`, { move_to });
  },
};

const put = ({ school, server }: Stage, path: string, body: object) =>
  school.client.send(`${server.base}${path}`, {
    ...{ method: 'PUT', body: JSON.stringify(body), headers: { 'content-type': 'application/json' } },
  });

/** Names all participants on the payer's page. */
async function nameAll({ server, school, database, person, namedAtOnce }: Stage, bookingId: number) {
  const link = { providerId: school.id, bookingId, participantId: null };
  const token = await createLink({ $client: database }, link);
  const { rows } = await database.query<{ id: number }>('select id::int from participants where booking_id = $1', [
    bookingId,
  ]);
  const toFields = ({ id }: { id: number }) =>
    Object.entries(person(`named-${id}`)).map(([name, value]) => [`${name}_${id}`, value] as [string, string]);
  const name = (some: { id: number }[]) =>
    school.client.send(`${server.base}/my/booking/${token}`, {
      method: 'POST',
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      body: new URLSearchParams(some.flatMap(toFields)).toString(),
    });
  return async () => {
    let last: HttpResponse | undefined;
    for (let n = 0; n < rows.length && (last?.status ?? 200) === 200; n += namedAtOnce)
      last = await name(rows.slice(n, n + namedAtOnce));
    return last!;
  };
}

/** Writes of the school, by a key and by the public form, one after the other until the work is done. */
async function writeBeside(writes: (() => Promise<HttpResponse>)[], work: () => Promise<HttpResponse | undefined>) {
  let isOver = false;
  const seen: HttpResponse[] = [];
  const writing = writes.map(async (write) => {
    while (!isOver) {
      seen.push(await write());
      await pause(20);
    }
  });
  await pause(200);
  const answer = await work();
  isOver = true;
  await Promise.all(writing);
  return { answer, seen };
}

const longest = (seen: HttpResponse[]) => Math.max(...seen.map(({ elapsed }) => elapsed));

async function observe(stage: Stage, prepare: Prepare) {
  const { server, school, person } = stage;
  const url = `${stage.patient.base}/v2/course-users`;
  const { text } = await school.client.post(url, person(`probe-${performance.now()}`));
  const probe = `/v2/course-users/${(JSON.parse(text) as { id: number }).id}`;
  // A server that has just done a long-running write on a busy machine may answer 503.
  let form: Awaited<ReturnType<typeof openBookingForm>> | undefined;
  const open = async () =>
    (form = await openBookingForm(server.base, school, school.dateIds[0]!).catch(() => undefined));
  await waitUntil(async () => (await open()) !== undefined, 30_000);
  const writes = [() => put(stage, probe, { phone: String(performance.now()) }), form!.post];
  const act = await prepare(stage);
  const alone = await writeBeside(writes, () => pause(2_000).then(() => undefined));
  const { answer, seen } = await writeBeside(writes, act);
  return { answer: answer!, usual: longest(alone.seen), waited: longest(seen), seen: [...alone.seen, ...seen] };
}
type Observation = Awaited<ReturnType<typeof observe>>;

/** Observes a turn that counts, else the last one. */
async function observeQuietly(stage: Stage, prepare: Prepare) {
  let seen = await observe(stage, prepare);
  for (let turn = 1; turn < maxTurns && seen.usual > busyMs && !isShort(seen); turn += 1)
    seen = await observe(stage, prepare);
  return seen;
}

const isShort = ({ waited }: Observation) => waited <= limitMs;
const isServed = ({ answer, seen }: Observation) =>
  answer.status < 300 && seen.every(({ status }) => status > 0 && status < 400);
const describe = (name: string, { answer, usual, waited, seen }: Observation) =>
  `${name} (${answer.status}, ${Math.round(answer.elapsed)} ms): others ${countStatuses(seen)}, at most ${Math.round(waited)} ms beside ${Math.round(usual)} ms without it`;

/** Each act in one write, and a deregistration by a statement for each person. */
const unsliced = [
  replaceIn('merge', /\/merges\/service\.ts$/, 'const sliceSize = 500', 'const sliceSize = 50_000'),
  replaceIn(
    'cancellation',
    /\/cancellation-service\.ts$/,
    /const maxBookings = 5;([^]*?)const maxPersons = 100;/,
    'const maxBookings = 10_000;$1const maxPersons = 100_000;',
  ),
  replaceIn('deletion', /\/promotion-service\.ts$/, 'const maxEnded = 25', 'const maxEnded = 10_000'),
  replaceIn('naming', /my\/views\/booking\.tsx$/, 'const maxNamed = 10', 'const maxNamed = 200'),
  replaceIn(
    'deregistration',
    /\/seat-assignment\/service\.ts$/,
    /await (w\.tx\s+\.update\(participants\)[^;]*)hasAnyId\(participants\.id, ids\)/,
    'for (const one of ids) await $1hasAnyId(participants.id, [one])',
  ),
];
const controlled = [
  ...['a canceled date with credits for 400 bookings', 'a deleted date for which 400 wait'],
  ...['a merge of 40,000 places', '200 places that are named', 'a deregistration of 1,000 persons'],
];

const scenario: Scenario = {
  name: 'writes beside long ones of the school',
  quick: false,
  async run(run) {
    const { env, all, postgres } = await createSchools(run, { count: 2, parameters: { autovacuum: 'off' } });
    const program = await bundle('src/main.ts', unsliced);
    const [school, other] = all as [School, School];
    const database = await postgres.connect('schools');
    run.onCleanup(() => database.end());
    await fillOtherSchools(database, other.id, run.quick ? 20_000 : 200_000);
    const patience = { STATEMENT_TIMEOUT_MS: '120000' };
    const patient = await startServer(run, { ...env, ...patience });
    const open = async (options?: Parameters<typeof startServer>[2]): Promise<Stage> => {
      const server = await startServer(run, { ...env, ...formEnv }, options);
      return {
        ...{ server, patient, school, database, namedAtOnce: options === undefined ? 10 : 200 },
        post: (path, body = {}) => school.client.post(`${server.base}${path}`, body),
        person: (prefix, n = 0) => ({ firstname: 'Kari', lastname: `No ${n}`, email: `${prefix}-${n}@long.example` }),
      };
    };
    const stage = await open();
    const figures: string[] = [];
    const failures: string[] = [];
    for (const [name, prepare] of Object.entries(acts)) {
      const seen = await observeQuietly(stage, prepare);
      figures.push(describe(name, seen));
      failures.push(...failedChecks({ [describe(name, seen)]: isServed(seen) && isShort(seen) }));
    }
    const unprotected = await open({ command: [process.execPath, program] });
    for (const name of controlled) {
      const seen = await observe(unprotected, acts[name]!);
      const found = `control: ${describe(name, seen)}`;
      figures.push(found);
      failures.push(...failedChecks({ [found]: !isShort(seen) }));
    }
    return { figures: figures.join('; '), failures };
  },
};
export default scenario;
