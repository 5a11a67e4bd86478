import { replaceIn, bundle } from '../../support/bundle.ts';
import { failedChecks, waitUntil, type Run, type Scenario } from '../scenario.ts';
import { formEnv, openBookingForm } from '../support/booking-form.ts';
import type { HttpResponse } from '../support/client.ts';
import { countStatuses, sendAtRate } from '../support/load.ts';
import { createSchools, type School, type Schools } from '../support/school.ts';
import { startServer, type Server } from '../support/server.ts';

const [lockMs, perSecond] = [4_000, 12];

/** The error of a statement behind the failed one of a transaction is not replaced by that of the failed one. */
const withoutCause = replaceIn(
  'without-cause',
  /database\/preparing-client\.ts$/,
  'throw toCause(this, error)',
  'throw error',
);

const scenario: Scenario = {
  name: 'each table locked',
  quick: false,
  async run(run) {
    const schools = await createSchools(run, { count: 2, parameters: { fsync: 'off' } });
    const env = { ...schools.env, ...formEnv };
    const server = await startServer(run, env);
    const tables = await listTables(schools);
    const requests = await createRequests(server, schools.all);
    const failures: string[] = [];
    const busy: string[] = [];
    let sent = 0;
    for (const table of run.quick ? ['courses', 'participants'] : tables) {
      const seen = await observe(run, schools, table, requests);
      sent += seen.length;
      if (seen.some(({ status }) => status === 503)) busy.push(table);
      failures.push(...findFaults(table, seen));
    }

    const program = await bundle('src/main.ts', [withoutCause]);
    const plain = await startServer(run, env, { command: [process.execPath, program] });
    const plainRequests = await createRequests(plain, schools.all);
    const found: string[] = [];
    for (const table of ['courses', 'products'])
      found.push(...findFaults(table, await observe(run, schools, table, plainRequests)));
    failures.push(...failedChecks({ 'control: no request is 500 without the cause': found.length > 0 }));
    const locked = `${busy.length} of ${tables.length} locked tables make requests wait too long`;
    return { figures: `${sent} requests, ${locked}; without the cause: ${found.join(', ')}`, failures };
  },
};
export default scenario;

async function listTables({ postgres }: Schools) {
  const client = await postgres.connect('schools');
  const { rows } = await client.query<{ name: string }>(
    `select tablename as name from pg_tables where schemaname = 'public' order by 1`,
  );
  await client.end();
  return rows.map(({ name }) => name);
}

/** Sends requests of all kinds while a transaction holds a lock of the table. */
async function observe(run: Run, { postgres }: Schools, table: string, requests: Request[]) {
  const holder = await postgres.connect('schools');
  run.onCleanup(() => holder.end());
  await holder.query('begin');
  await holder.query(`lock table ${table} in access exclusive mode`);
  const sending = sendAtRate(perSecond, lockMs - 200, (n) => requests[n % requests.length]!(n));
  await new Promise((done) => setTimeout(done, lockMs));
  await holder.query('rollback');
  await holder.end();
  const seen = await sending;
  const isServed = async () => (await requests[0]!(0)).status < 300;
  if ((await waitUntil(isServed, 10_000)) === Infinity) throw new Error(`${table}: no booking after the lock`);
  return seen;
}

/** Also of the bookings of a batch, which have a status each. */
function findFaults(table: string, seen: HttpResponse[]) {
  const isRight = ({ status, headers, text }: HttpResponse) =>
    status === 503
      ? headers['retry-after'] !== undefined
      : status > 0 && status < 500 && !text.includes('"status":500');
  const wrong = seen.filter((response) => !isRight(response));
  return wrong.length === 0 ? [] : [`${table}: ${countStatuses(wrong)} of ${countStatuses(seen)}`];
}

type Request = (n: number) => Promise<HttpResponse>;

/** Bookings in every second place. */
async function createRequests({ base }: Server, [first, second]: School[]): Promise<Request[]> {
  const { client, courseId, dateIds } = first!;
  const form = await openBookingForm(base, second!, second!.dateIds[0]!);
  const [dateId, otherDateId] = dateIds;
  const post = (path: string, body: object) => client.post(`${base}${path}`, body);
  const put = (path: string, body: object) =>
    client.send(`${base}${path}`, {
      ...{ method: 'PUT', body: JSON.stringify(body), headers: { 'content-type': 'application/json' } },
    });
  const get = (path: string) => client.get(`${base}${path}`);
  let count = 0;
  const person = () => ({ firstname: 'Kari', lastname: 'Moen', email: `${process.pid}-${(count += 1)}@lock.example` });
  const onDate = { coursedate_id: dateId, payment_method: 'invoice' };
  const booking = () => ({ ...onDate, participants: [person(), person()] });
  const group = () => ({ ...onDate, places: 2, booker: 'Group', booker_email: person().email });
  const code = `GIFT-${(performance.timeOrigin + performance.now()).toFixed(3)}`;
  await post('/v2/vouchers', { code, amount: 1_000_000 });
  const { summary } = JSON.parse((await post('/v2/booking', booking())).text) as {
    summary: { order_id: string; booking_id: string; participants: { id: number }[] };
  };
  const participant = `/v2/participants/${summary.participants[0]!.id}`;
  const book = () => post('/v2/booking', booking());
  const others: Request[] = [
    () => post('/v2/booking', { ...booking(), voucher_code: code }),
    form.post,
    () => post('/v2/batch/booking', { bookings: [booking(), booking()] }),
    () => post('/v2/booking', group()),
    () => post('/v2/batch/booking', { bookings: [booking(), booking()], dry_run: true }),
    (n) => put(participant, { user: person(), user_comment: `Comment ${n}` }),
    (n) => post(`${participant}/move`, { coursedate_id: n % 2 === 0 ? dateId : otherDateId }),
    () => post(`/v2/orders/${summary.order_id}/payments`, { amount: 1 }),
    () => post(`/v2/orders/${summary.order_id}/credit`, { fee: 0.5 }),
    (n) => post('/v2/courses', { title: `Course ${n} ${performance.now()}`, tags: ['Knots'] }),
    (n) => put(`/v2/courses/${courseId}/coursedates/${otherDateId}`, { capacity_max: 1_000 + n }),
    () => put(`/v2/booking/${summary.booking_id}/deregister`, {}),
    () => get(`/v2/participants?limit=5&q=${count}`),
    () => get('/v2/orders?limit=5&include[]=credit'),
    () => get('/v2/changes'),
    form.get,
    () => post('/v2/course-users', person()),
    () => post('/v2/check-user-credentials', { username: `${count}@lock.example`, password: 'a random guess' }),
  ];
  return others.flatMap((other) => [book, other]);
}
