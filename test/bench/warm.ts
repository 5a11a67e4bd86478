import type { Case } from './cases.ts';
import type { Subject } from './database.ts';
import type { Dataset } from './dataset.ts';
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { freePort } from '../support/ports.ts';
import { median } from './figures.ts';
import { statementsFor } from './lists.ts';
import { drive, onlyStatus } from './load.ts';
import { asRows } from './others.ts';
import { pgbench, scriptOf } from './pgbench.ts';
import { withServer } from './server.ts';
import { secondsOf, secondsOfFamily } from './usage.ts';

export type WarmFigures = {
  name: string;
  /** Answers a second: the same question, by its ETag, beside writes with every tenth question new and its page empty or full. */
  warm: number;
  notModified: number;
  mixed: number;
  mixedFull: number;
  /** What pgbench alone reads the rows at, and what a bare Fastify serves the same bytes at. */
  rowsAlone: number;
  bytesAlone: number;
  p50: number;
  p99: number;
  nodeMs: number;
  postgresMs: number;
};

/** The same question again and again, by its ETag too, and beside ten writes a second; beside pgbench that only reads the rows. */
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
      const rows = scriptOf(
        reading.map((one) => ({ ...one, text: asRows(one.text) })),
        [],
        [],
        [],
      );
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
        return writing(base, apiKey, () => drive({ ...ask, others, othersShare: 0.1 }));
      };
      await drive({ ...ask, seconds: 1 });
      const body = await (await fetch(ask.url, { headers })).text();
      await withConstant(body, async (bare) => {
        const runs: Omit<WarmFigures, 'name'>[] = [];
        for (let round = 0; round < rounds; round += 1) {
          const [nodeBefore, postgresBefore] = [secondsOf(pid), secondsOfFamily(subject.pid)];
          const warm = await drive(ask);
          const count = warm.statuses['200']!;
          const nodeMs = ((secondsOf(pid) - nodeBefore) * 1_000) / count;
          const postgresMs = ((secondsOfFamily(subject.pid) - postgresBefore) * 1_000) / count;
          const known = { ...headers, 'if-none-match': (await fetch(ask.url, { headers })).headers.get('etag')! };
          const notModified = await drive({ ...ask, headers: known, status: '304' });
          const { status } = await fetch(ask.url, { headers: known });
          if (status !== 304) throw new Error(`${path} answers ${status} to its own ETag`);
          const { perSecond: rowsAlone } = await pgbench(subject, rows, 2, seconds);
          const bytes = await drive({ ...ask, url: bare });
          const mixed = await beside('since_id={n}');
          const mixedFull = await beside('n={n}');
          onlyStatus('200', warm, bytes, mixed, mixedFull);
          onlyStatus('304', notModified);
          runs.push({
            ...{ warm: warm.perSecond, p50: warm.p50, p99: warm.p99, nodeMs, postgresMs, rowsAlone },
            ...{ notModified: notModified.perSecond, bytesAlone: bytes.perSecond },
            ...{ mixed: mixed.perSecond, mixedFull: mixedFull.perSecond },
          });
        }
        const keys = Object.keys(runs[0]!) as (keyof (typeof runs)[0])[];
        const middle = Object.fromEntries(keys.map((key) => [key, median(runs.map((run) => run[key]))]));
        figures.push({ name, ...(middle as (typeof runs)[0]) });
      });
    }
    return figures;
  });
}

/** A bare Fastify that answers with these bytes. */
async function withConstant<T>(body: string, work: (url: string) => Promise<T>): Promise<T> {
  const port = await freePort();
  const child = fork(new URL('constant.ts', import.meta.url), { execArgv: ['--import', 'tsx'] });
  try {
    child.send({ port, body });
    await once(child, 'message');
    return await work(`http://127.0.0.1:${port}/`);
  } finally {
    child.kill();
  }
}

let [written, done] = [0, 0];

/** Ten writes a second by the same provider while the work runs; most of them have to be done by its end. */
export async function writing<T>(base: string, apiKey: string, work: () => Promise<T>): Promise<T> {
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
    if (perSecond < 7) throw new Error(`only ${perSecond.toFixed(1)} writes a second`);
    return result;
  } finally {
    clearInterval(timer);
  }
}
