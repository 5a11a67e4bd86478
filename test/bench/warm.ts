import type { Case } from './cases.ts';
import type { Subject } from './database.ts';
import type { Dataset } from './dataset.ts';
import { once } from 'node:events';
import { costOf, middleOf, type Cost } from './cost.ts';
import { freePort } from '../support/ports.ts';
import { asRows, statementsFor } from './lists.ts';
import { drive, onlyStatus, settle } from './load.ts';
import { pgbench, scriptOf } from './pgbench.ts';
import { withServer } from './server.ts';
import { forkInSession } from './session.ts';

/** Rates: cached, with ETag, and mixed with writes and every tenth query new, whose page is empty or full. */
export type WarmFigures = Cost & {
  name: string;
  notModified: number;
  mixed: number;
  mixedFull: number;
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
    const figures: WarmFigures[] = [];
    for (const { name, path } of cases) {
      const all = await statementsFor(subject, path, headers);
      const reading = all.filter((one) => one.name !== 'authenticate');
      const rows = scriptOf(reading.map(asRows), [], [], []);
      const ask = {
        url: base + path,
        method: 'GET' as const,
        headers,
        connections: 8,
        seconds,
        status: '200' as const,
      };
      const beside = (question: string) => {
        const others = [`${path}${path.includes('?') ? '&' : '?'}${question}`];
        // A single round is only a smoke test.
        const least = rounds > 1 ? enough : 0.1;
        return writing(base, apiKey, () => drive({ ...ask, others, othersShare: 0.1 }), least);
      };
      await settle(ask, { rounds });
      if (rounds > 1) await beside('since_id={n}');
      const body = await (await fetch(ask.url, { headers })).text();
      await withConstant(body, async (bare) => {
        await settle({ ...ask, url: bare }, { rounds });
        const runs: Omit<WarmFigures, 'name'>[] = [];
        for (let round = 0; round < rounds; round += 1) {
          const warm = await costOf(subject, [pid], '200', ask);
          const known = { ...headers, 'if-none-match': (await fetch(ask.url, { headers })).headers.get('etag')! };
          const notModified = await drive({ ...ask, headers: known, status: '304' });
          const { status } = await fetch(ask.url, { headers: known });
          if (status !== 304) throw new Error(`${path} answers ${status} to its own ETag`);
          const { perSecond: rowsAlone } = await pgbench(subject, rows, 2, seconds);
          const bytes = await drive({ ...ask, url: bare });
          const mixed = await beside('since_id={n}');
          const mixedFull = await beside('n={n}');
          onlyStatus('200', bytes, mixed, mixedFull);
          onlyStatus('304', notModified);
          runs.push({
            ...{ ...warm, rowsAlone, notModified: notModified.perSecond, bytesAlone: bytes.perSecond },
            ...{ mixed: mixed.perSecond, mixedFull: mixedFull.perSecond },
          });
        }
        figures.push({ name, ...middleOf(runs) });
      });
    }
    return figures;
  });
}

/** Starts a minimal Fastify server with this body. */
async function withConstant<T>(body: string, work: (url: string) => Promise<T>): Promise<T> {
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

let [written, done] = [0, 0];
/** Required writes a second, of ten sent. */
const enough = 7;

/** Sends ten writes a second for the same provider during the work; most must complete. */
export async function writing<T>(base: string, apiKey: string, work: () => Promise<T>, least = enough): Promise<T> {
  const [started, before] = [performance.now(), done];
  const write = () => {
    written += 1;
    const body = new URLSearchParams({ title: `Tag ${process.pid} ${written}` });
    fetch(`${base}/v2/course-tags`, { method: 'POST', headers: { 'x-api-key': apiKey }, body }).then(
      (answer) => {
        if (answer.status === 201) done += 1;
        return answer.arrayBuffer();
      },
      () => undefined,
    );
  };
  const timer = setInterval(write, 100);
  try {
    const result = await work();
    const perSecond = ((done - before) * 1_000) / (performance.now() - started);
    if (perSecond < least) throw new Error(`only ${perSecond.toFixed(1)} writes a second`);
    return result;
  } finally {
    clearInterval(timer);
  }
}
