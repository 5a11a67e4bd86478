import type { Case } from './cases.ts';
import type { Subject } from './database.ts';
import type { Dataset } from './dataset.ts';
import { median } from './figures.ts';
import { statementsFor } from './lists.ts';
import { drive, onlyStatus } from './load.ts';
import { pgbench, scriptOf } from './pgbench.ts';
import { withServer } from './server.ts';

export type WarmFigures = { name: string; warm: number; notModified: number; mixed: number; rowsAlone: number };

/** The same question again and again, by its ETag too, and beside ten writes a second; beside pgbench that only reads the rows. */
export async function measureWarm(
  subject: Subject,
  { apiKey }: Dataset,
  cases: Case[],
  { rounds, seconds }: { rounds: number; seconds: number },
): Promise<WarmFigures[]> {
  const headers = { 'x-api-key': apiKey };
  return withServer(subject, {}, async ({ base }) => {
    const figures: WarmFigures[] = [];
    for (const { name, path } of cases) {
      const all = await statementsFor(subject, path, headers);
      const rows = scriptOf(
        all.filter((one) => one.name !== 'authenticate'),
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
      await drive({ ...ask, seconds: 1 });
      const runs: Omit<WarmFigures, 'name'>[] = [];
      for (let round = 0; round < rounds; round += 1) {
        const warm = await drive(ask);
        const tag = (await fetch(ask.url, { headers })).headers.get('etag')!;
        const known = await drive({ ...ask, headers: { ...headers, 'if-none-match': tag }, status: '304' });
        onlyStatus('200', warm);
        onlyStatus('304', known);
        const { perSecond: rowsAlone } = await pgbench(subject, rows, 2, seconds);
        const mixed = await writing(base, apiKey, () =>
          drive({ ...ask, others: [`${path}${path.includes('?') ? '&' : '?'}since_id={n}`], othersShare: 0.1 }),
        );
        runs.push({ warm: warm.perSecond, notModified: known.perSecond, rowsAlone, mixed: mixed.perSecond });
      }
      const middle = (key: keyof (typeof runs)[0]) => median(runs.map((run) => run[key]));
      figures.push({
        ...{ name, warm: middle('warm'), notModified: middle('notModified') },
        ...{ mixed: middle('mixed'), rowsAlone: middle('rowsAlone') },
      });
    }
    return figures;
  });
}

let written = 0;

/** Ten writes a second by the same provider while the work runs. */
export async function writing<T>(base: string, apiKey: string, work: () => Promise<T>): Promise<T> {
  const write = () => {
    written += 1;
    const body = new URLSearchParams({ title: `Tag ${process.pid} ${written}` });
    fetch(`${base}/v2/course-tags`, { method: 'POST', headers: { 'x-api-key': apiKey }, body }).then(
      (answer) => answer.arrayBuffer(),
      () => undefined,
    );
  };
  const timer = setInterval(write, 100);
  try {
    return await work();
  } finally {
    clearInterval(timer);
  }
}
