import type { Case } from './cases.ts';
import type { Subject } from './database.ts';
import type { Dataset } from './dataset.ts';
import { once } from 'node:events';
import { measureCost, medians, type Cost } from './cost.ts';
import { freePort } from '../support/ports.ts';
import { expandRecords, recordRequest } from './lists.ts';
import { runLoad, assertStatus, warmUp } from './load.ts';
import { pgbench, createScript } from './pgbench.ts';
import { withServer } from './server.ts';
import { forkInSession } from './session.ts';

/** Rates: cached, with ETag, and mixed with writes and every tenth query new, whose page is empty or full. */
export type WarmFigures = Cost & {
  name: string;
  notModified: number;
  mixed: number;
  mixedFull: number;
  /** Cached, beside ten bookings a second of the same school. */
  besideBookings: number;
  /** pgbench's rate for the rows, and that of a minimal Fastify server for the same bytes. */
  rowsAlone: number;
  bytesAlone: number;
};

/** Measures cached lists, also with ETag and beside ten writes a second, compared with pgbench reading the rows. */
export async function measureWarm(
  subject: Subject,
  { apiKey }: Dataset,
  cases: Case[],
  { rounds, seconds }: { rounds: number; seconds: number },
): Promise<WarmFigures[]> {
  const headers = { 'x-api-key': apiKey };
  return withServer(subject, {}, async ({ base, pid }) => {
    const dateId = await createDate(base, apiKey);
    const figures: WarmFigures[] = [];
    for (const { name, path } of cases) {
      const all = await recordRequest(subject, path, headers);
      const reading = all.filter((one) => one.name !== 'authenticate');
      const rows = createScript(reading.map(expandRecords), [], [], []);
      const load = {
        url: base + path,
        method: 'GET' as const,
        headers,
        connections: 8,
        seconds,
        status: '200' as const,
      };
      const runMixed = (queryString: string) => {
        const others = [`${path}${path.includes('?') ? '&' : '?'}${queryString}`];
        // A single round is only a smoke test.
        const minimum = rounds > 1 ? requiredWrites : 0.1;
        return withWrites(createTag(base, apiKey), () => runLoad({ ...load, others, othersShare: 0.1 }), minimum);
      };
      const runBesideBookings = () =>
        withWrites(createBooking(base, apiKey, dateId), () => runLoad(load), rounds > 1 ? requiredWrites : 0.1);
      await warmUp(load, { rounds });
      if (rounds > 1) await runMixed('since_id={n}');
      const body = await (await fetch(load.url, { headers })).text();
      await withConstantServer(body, async (bareUrl) => {
        await warmUp({ ...load, url: bareUrl }, { rounds });
        const runs: Omit<WarmFigures, 'name'>[] = [];
        for (let round = 0; round < rounds; round += 1) {
          const warm = await measureCost(subject, [pid], '200', load);
          const conditionalHeaders = {
            ...headers,
            'if-none-match': (await fetch(load.url, { headers })).headers.get('etag')!,
          };
          const notModified = await runLoad({ ...load, headers: conditionalHeaders, status: '304' });
          const { status } = await fetch(load.url, { headers: conditionalHeaders });
          if (status !== 304) throw new Error(`${path} returned ${status} for its own ETag`);
          const { perSecond: rowsAlone } = await pgbench(subject, rows, 2, seconds);
          const bytes = await runLoad({ ...load, url: bareUrl });
          const mixed = await runMixed('since_id={n}');
          const mixedFull = await runMixed('n={n}');
          const besideBookings = await runBesideBookings();
          assertStatus('200', bytes, mixed, mixedFull, besideBookings);
          assertStatus('304', notModified);
          runs.push({
            ...{ ...warm, rowsAlone, notModified: notModified.perSecond, bytesAlone: bytes.perSecond },
            ...{ mixed: mixed.perSecond, mixedFull: mixedFull.perSecond, besideBookings: besideBookings.perSecond },
          });
        }
        figures.push({ name, ...medians(runs) });
      });
    }
    return figures;
  });
}

/** Starts a minimal Fastify server with this body. */
async function withConstantServer<T>(body: string, work: (url: string) => Promise<T>): Promise<T> {
  const port = await freePort();
  const child = forkInSession('constant.ts');
  try {
    child.send({ port, body });
    await once(child, 'message');
    return await work(`http://127.0.0.1:${port}/`);
  } finally {
    child.kill();
  }
}

let [sentWrites, completedWrites] = [0, 0];
/** Required writes a second, of ten sent. */
const requiredWrites = 7;

type SendWrite = (n: number) => Promise<Response>;

export const createTag =
  (base: string, apiKey: string): SendWrite =>
  (n) => {
    const body = new URLSearchParams({ title: `Tag ${process.pid} ${n}` });
    return fetch(`${base}/v2/course-tags`, { method: 'POST', headers: { 'x-api-key': apiKey }, body });
  };

/** Creates a course with a date without a seat limit; returns the date's id. */
async function createDate(base: string, apiKey: string) {
  const post = async (path: string, fields: Record<string, string>) => {
    const body = new URLSearchParams(fields);
    const response = await fetch(base + path, { method: 'POST', headers: { 'x-api-key': apiKey }, body });
    if (response.status !== 201) throw new Error(`${path} returned ${response.status}`);
    return (await response.json()) as { course_id: number; coursedate_id: number };
  };
  const { course_id } = await post('/v2/courses', { title: `Booked ${process.pid}` });
  const days = { start_at: '2035-06-10', end_at: '2035-06-12' };
  return (await post(`/v2/courses/${course_id}/coursedates`, days)).coursedate_id;
}

const createBooking =
  (base: string, apiKey: string, coursedate_id: number): SendWrite =>
  (n) => {
    const participants = [{ firstname: 'Kari', lastname: 'Nordmann', email: `beside-${process.pid}-${n}@x.example` }];
    const body = JSON.stringify({ coursedate_id, payment_method: 'invoice', participants });
    return fetch(`${base}/v2/booking`, {
      method: 'POST',
      headers: { 'x-api-key': apiKey, 'content-type': 'application/json' },
      body,
    });
  };

/** Sends ten writes a second during the work; most must complete. */
export async function withWrites<T>(send: SendWrite, work: () => Promise<T>, minimum = requiredWrites): Promise<T> {
  const [started, before] = [performance.now(), completedWrites];
  const write = () => {
    sentWrites += 1;
    send(sentWrites).then(
      (response) => {
        if (response.status === 201) completedWrites += 1;
        return response.arrayBuffer();
      },
      () => undefined,
    );
  };
  const timer = setInterval(write, 100);
  try {
    const result = await work();
    const perSecond = ((completedWrites - before) * 1_000) / (performance.now() - started);
    if (perSecond < minimum) throw new Error(`only ${perSecond.toFixed(1)} writes a second`);
    return result;
  } finally {
    clearInterval(timer);
  }
}
