import { buildApp } from '../../src/app.ts';
import type { Case } from './cases.ts';
import { statementsOf, type Sent } from '../support/statements.ts';
import type { Subject } from './database.ts';
import type { Dataset } from './dataset.ts';
import { drive, onlyStatus } from './load.ts';
import { pgbench, scriptOf } from './pgbench.ts';
import { appOptions, withServer } from './server.ts';
import { peakMegabytes, secondsOf, secondsOfFamily } from './usage.ts';
import { median } from './figures.ts';

export type ListFigures = {
  name: string;
  perSecond: number;
  p50: number;
  p99: number;
  nodeMs: number;
  postgresMs: number;
  statements: number;
  limit: number;
  limitPostgresMs: number;
  share: number;
  megabytes: number;
  /** How many are answered. */
  items: number;
};

/** Each list as often as it can be answered from the database, beside pgbench with the same statements, in turns. */
export async function measureLists(
  subject: Subject,
  dataset: Dataset,
  cases: Case[],
  { rounds, seconds, limit: isLimited = true }: { rounds: number; seconds: number; limit?: boolean },
): Promise<ListFigures[]> {
  const headers = { 'x-api-key': dataset.apiKey };
  const asked = new Map<Case, Sent[]>();
  for (const one of cases) asked.set(one, await statementsFor(subject, one.path, headers));

  return withServer(subject, { ANSWER_CACHE_MB: '0' }, async ({ base, pid }) => {
    const items = new Map<Case, number>();
    for (const one of cases) {
      const answer = (await (await fetch(base + one.path, { headers })).json()) as unknown[] | { items: unknown[] };
      items.set(one, Array.isArray(answer) ? answer.length : answer.items.length);
    }
    const runs = new Map<Case, Omit<ListFigures, 'name' | 'statements' | 'items'>[]>(cases.map((one) => [one, []]));
    for (const { path } of cases) await drive({ url: base + path, method: 'GET', headers, connections: 8, seconds: 1 });
    for (let round = 0; round < rounds; round += 1) {
      for (const one of cases) {
        const [nodeBefore, postgresBefore] = [secondsOf(pid), secondsOfFamily(subject.pid)];
        const ask = { url: base + one.path, method: 'GET' as const, headers, connections: 8, seconds };
        const ours = await drive({ ...ask, status: '200' });
        const count = ours.statuses['200'] ?? 0;
        onlyStatus('200', ours);
        const nodeMs = ((secondsOf(pid) - nodeBefore) * 1_000) / count;
        const postgresMs = ((secondsOfFamily(subject.pid) - postgresBefore) * 1_000) / count;
        const limitBefore = secondsOfFamily(subject.pid);
        const limit = isLimited
          ? await pgbench(subject, scriptOf(asked.get(one)!, [], [], []), 2, seconds)
          : { perSecond: NaN, count: NaN };
        const limitPostgresMs = ((secondsOfFamily(subject.pid) - limitBefore) * 1_000) / limit.count;
        runs.get(one)!.push({
          ...{ perSecond: ours.perSecond, p50: ours.p50, p99: ours.p99, nodeMs, postgresMs, limitPostgresMs },
          ...{ limit: limit.perSecond, share: ours.perSecond / limit.perSecond, megabytes: peakMegabytes(pid) },
        });
      }
    }
    return cases.map((one) => {
      const all = runs.get(one)!;
      const middle = Object.fromEntries(
        Object.keys(all[0]!).map((key) => [key, median(all.map((run) => run[key as keyof typeof run]))]),
      ) as (typeof all)[0];
      return { name: one.name, statements: asked.get(one)!.length, items: items.get(one)!, ...middle };
    });
  });
}

/**
 * What the service asks the database to answer this, the key's look-up too; after it was asked once unless `first`, so that
 * nothing is first-time.
 */
export async function statementsFor(
  { database }: Subject,
  path: string,
  headers: Record<string, string>,
  { first = false } = {},
) {
  const app = await buildApp({ database, ...appOptions });
  const ask = () => app.inject({ method: 'GET', url: path, headers });
  if (!first) await ask();
  const sent = await statementsOf(ask);
  await app.close();
  return sent;
}
