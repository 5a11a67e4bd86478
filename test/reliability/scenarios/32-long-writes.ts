import type { Client } from 'pg';
import { createLink } from '../../../src/resources/links/service.ts';
import { bundle, replaceIn } from '../../support/bundle.ts';
import { failedChecks, pause, percentile, waitUntil, type Scenario } from '../scenario.ts';
import { formEnv, openBookingForm } from '../support/booking-form.ts';
import type { HttpResponse } from '../support/client.ts';
import { fillOtherSchools } from '../support/large-database.ts';
import { countStatuses } from '../support/load.ts';
import { createSchools, type School } from '../support/school.ts';
import { startServer, type Server } from '../support/server.ts';

/** The longest wait in milliseconds, or times the median of the same writes without a long one, if that is more. */
const limits = { waitMs: 1_000, times: 10 };

type Stage = {
  server: Server;
  /** With time for each booking, on a busy machine, too. */
  patient: Server;
  school: School;
  database: Client;
  post: Send;
  person: (prefix: string, n?: number) => Person;
};
type Send = (path: string, body?: object) => Promise<HttpResponse>;
type Person = { firstname: string; lastname: string; email: string };
/** Prepares a long act, and returns it. */
type Prepare = (stage: Stage) => Promise<() => Promise<HttpResponse>>;

const persons = (prefix: string, count: number, person: Stage['person']) =>
  Array.from({ length: count }, (_, n) => person(prefix, n));

async function addDate({ patient, school }: Stage) {
  const date = { start_at: '2035-06-10', end_at: '2035-06-11', capacity_max: 100_000 };
  const { text } = await school.client.post(`${patient.base}/v2/courses/${school.courseId}/coursedates`, date);
  return (JSON.parse(text) as { coursedate_id: number }).coursedate_id;
}

async function book(stage: Stage, coursedate_id: number, body: object) {
  const { client } = stage.school;
  const url = `${stage.patient.base}/v2/booking`;
  const { status, text } = await client.post(url, { coursedate_id, payment_method: 'invoice', ...body });
  if (status !== 201) throw new Error(`not booked: ${status} ${text}`);
  return (JSON.parse(text) as { summary: { booking_id: string; order_id: string } }).summary;
}

const cancelDate =
  (sizes: number[], body: object): Prepare =>
  async (stage) => {
    const dateId = await addDate(stage);
    for (const [n, size] of sizes.entries())
      await book(stage, dateId, { participants: persons(`cancel-${dateId}-${n}`, size, stage.person) });
    return () => stage.post(`/v2/courses/${stage.school.courseId}/coursedates/${dateId}/cancel`, body);
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
  'a canceled date of 2,000 persons in 40 bookings': cancelDate(Array(40).fill(50), {}),
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
    return () => stage.post(`/v2/courses/${stage.school.courseId}/coursedates/${dateId}/cancel`, { move_to });
  },
};

const put = ({ school, server }: Stage, path: string, body: object) =>
  school.client.send(`${server.base}${path}`, {
    ...{ method: 'PUT', body: JSON.stringify(body), headers: { 'content-type': 'application/json' } },
  });

/** By the payer's page, ten in a form. */
async function nameAll({ server, school, database, person }: Stage, bookingId: number) {
  const link = { providerId: school.id, bookingId, participantId: null };
  const token = await createLink({ $client: database }, link);
  const { rows } = await database.query<{ id: number }>('select id::int from participants where booking_id = $1', [
    bookingId,
  ]);
  const toFields = ({ id }: { id: number }) =>
    Object.entries(person(`named-${id}`)).map(([name, value]) => [`${name}_${id}`, value] as [string, string]);
  const send = (some: { id: number }[]) =>
    school.client.send(`${server.base}/my/booking/${token}`, {
      method: 'POST',
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      body: new URLSearchParams(some.flatMap(toFields)).toString(),
    });
  return async () => {
    let last = await send(rows.slice(0, 10));
    for (let n = 10; n < rows.length && last.status === 200; n += 10) last = await send(rows.slice(n, n + 10));
    return last;
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
const median = (seen: HttpResponse[]) =>
  percentile(
    seen.map(({ elapsed }) => elapsed),
    0.5,
  );

async function observe(stage: Stage, prepare: Prepare) {
  const { server, school, person } = stage;
  const url = `${stage.patient.base}/v2/course-users`;
  const { text } = await school.client.post(url, person(`probe-${performance.now()}`));
  const probe = `/v2/course-users/${(JSON.parse(text) as { id: number }).id}`;
  // A server that has just done a long act on a busy machine may answer 503.
  let form: Awaited<ReturnType<typeof openBookingForm>> | undefined;
  const open = async () =>
    (form = await openBookingForm(server.base, school, school.dateIds[0]!).catch(() => undefined));
  await waitUntil(async () => (await open()) !== undefined, 30_000);
  const writes = [() => put(stage, probe, { phone: String(performance.now()) }), form!.post];
  const act = await prepare(stage);
  const alone = await writeBeside(writes, () => pause(2_000).then(() => undefined));
  const { answer, seen } = await writeBeside(writes, act);
  return { answer: answer!, usual: median(alone.seen), waited: longest(seen), seen: [...alone.seen, ...seen] };
}
type Observation = Awaited<ReturnType<typeof observe>>;

const isShort = ({ usual, waited }: Observation) => waited <= Math.max(limits.waitMs, limits.times * usual);
const isServed = ({ answer, seen }: Observation) =>
  answer.status < 300 && seen.every(({ status }) => status > 0 && status < 400);
const describe = (name: string, { answer, usual, waited, seen }: Observation) =>
  `${name} (${answer.status}, ${Math.round(answer.elapsed)} ms): others ${countStatuses(seen)}, at most ${Math.round(waited)} ms beside a usual ${Math.round(usual)} ms`;

/** A merge in one write. */
const unsliced = replaceIn(
  'merge-in-one-write',
  /merges\/service\.ts$/,
  'const sliceSize = 500',
  'const sliceSize = 50_000',
);

const scenario: Scenario = {
  name: 'writes beside long ones of the school',
  quick: false,
  async run(run) {
    const { env, all, postgres } = await createSchools(run, { count: 2, parameters: { autovacuum: 'off' } });
    const program = await bundle('src/main.ts', [unsliced]);
    const [school, other] = all as [School, School];
    const database = await postgres.connect('schools');
    run.onCleanup(() => database.end());
    await fillOtherSchools(database, other.id, run.quick ? 20_000 : 200_000);
    const patience = { STATEMENT_TIMEOUT_MS: '60000', WRITE_LOCK_TIMEOUT_MS: '60000' };
    const patient = await startServer(run, { ...env, ...patience });
    const open = async (options?: Parameters<typeof startServer>[2]): Promise<Stage> => {
      const server = await startServer(run, { ...env, ...formEnv }, options);
      return {
        ...{ server, patient, school, database },
        post: (path, body = {}) => school.client.post(`${server.base}${path}`, body),
        person: (prefix, n = 0) => ({ firstname: 'Kari', lastname: `No ${n}`, email: `${prefix}-${n}@long.example` }),
      };
    };
    const stage = await open();
    const figures: string[] = [];
    const failures: string[] = [];
    const waits = new Map<string, number>();
    for (const [name, prepare] of Object.entries(acts)) {
      let seen = await observe(stage, prepare);
      if (isServed(seen) && !isShort(seen)) seen = await observe(stage, prepare);
      waits.set(name, seen.waited);
      figures.push(describe(name, seen));
      failures.push(...failedChecks({ [describe(name, seen)]: isServed(seen) && isShort(seen) }));
    }
    const merge = 'a merge of 40,000 places';
    const control = await observe(await open({ command: [process.execPath, program] }), acts[merge]!);
    const found = describe('in one write', control);
    figures.push(found);
    failures.push(...failedChecks({ [`control: ${found}`]: control.waited >= 2 * waits.get(merge)! }));
    return { figures: figures.join('; '), failures };
  },
};
export default scenario;
