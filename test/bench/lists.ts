import { fork } from 'node:child_process';
import { once } from 'node:events';
import { buildApp } from '../../src/app.ts';
import { statementPrefix } from '../../src/database/result-bounds.ts';
import type { Case } from './cases.ts';
import { recordStatements, type RecordedStatement } from '../support/record-statements.ts';
import type { Subject } from './database.ts';
import type { Dataset } from './dataset.ts';
import { costOf, middleOf, type Cost } from './cost.ts';
import { settle } from './load.ts';
import { pgbench, scriptOf } from './pgbench.ts';
import { appOptions, withServer } from './server.ts';
import { secondsOfFamily } from './usage.ts';

export type ListFigures = Cost & {
  name: string;
  statements: number;
  /** pgbench's rate with the same statements, and the service's share of it. */
  limit: number;
  share: number;
  /**
   * PostgreSQL's processor time relative to pgbench's, and Node's relative to only reading and serialising the rows.
   */
  timesPgbench: number;
  timesFloor: number;
  /** Number of items. */
  items: number;
};

type Length = { rounds: number; seconds: number; limit?: boolean; floors?: string[] };

/**
 * Measures each uncached list, alternating with pgbench on the same statements and, if `floors` names the case, with
 * the Node floor; ratios compare the same round. Cases in `floors` have goals and run in twice as many rounds, the
 * others in every sixth of those.
 */
export async function measureLists(subject: Subject, dataset: Dataset, cases: Case[], length: Length) {
  const rounds = length.rounds === 1 ? 1 : 2 * length.rounds;
  return withLists(subject, dataset, cases, length, async (lists) => {
    for (let round = 0; round < rounds; round += 1) {
      for (const { name, measure } of lists) {
        if (round % 6 === 0 || length.floors?.includes(name)) await measure();
      }
    }
    return lists.map(({ figures }) => figures());
  });
}

type Run = Omit<ListFigures, 'name' | 'statements' | 'items'>;
export type MeasuredList = { name: string; measure: () => Promise<Run>; figures: () => ListFigures };

/** Starts a server for these lists and returns one measuring function per list. */
export async function withLists<T>(
  subject: Subject,
  dataset: Dataset,
  cases: Case[],
  { rounds, seconds, limit: isLimited = true, floors = [] }: Length,
  work: (lists: MeasuredList[]) => Promise<T>,
): Promise<T> {
  const headers = { 'x-api-key': dataset.apiKey };
  const asked = new Map<Case, RecordedStatement[]>();
  for (const one of cases) asked.set(one, await statementsFor(subject, one.path, headers));

  return withServer(subject, { RESPONSE_CACHE_MB: '0' }, async ({ base, pid }) => {
    const items = new Map<Case, number>();
    for (const one of cases) {
      const answer = (await (await fetch(base + one.path, { headers })).json()) as unknown[] | { items: unknown[] };
      items.set(one, Array.isArray(answer) ? answer.length : answer.items.length);
    }
    const loadOf = (path: string) => ({ url: base + path, method: 'GET' as const, headers, connections: 8 });
    for (const { path } of cases) await settle(loadOf(path), { rounds });
    let written = 0;
    const write = async () => {
      const body = new URLSearchParams({ title: `Measured ${pid} ${(written += 1)}` });
      const { status } = await fetch(`${base}/v2/course-tags`, { method: 'POST', headers, body });
      if (status !== 201) throw new Error(`a write was told ${status}`);
    };
    const measure = async (one: Case): Promise<Run> => {
      // Starts like a server after a write: without cached totals or page cursors.
      await write();
      const cost = await costOf(subject, [pid], '200', { ...loadOf(one.path), seconds, status: '200' });
      const limitBefore = secondsOfFamily(subject.pid);
      const limit = isLimited
        ? await pgbench(subject, scriptOf(asked.get(one)!, [], [], []), 2, seconds)
        : { perSecond: NaN, count: NaN };
      const limitPostgresMs = ((secondsOfFamily(subject.pid) - limitBefore) * 1_000) / limit.count;
      const floor = floors.includes(one.name) ? await floorOf(subject, asked.get(one)!, Math.min(2, seconds)) : NaN;
      return {
        ...cost,
        limit: limit.perSecond,
        share: cost.perSecond / limit.perSecond,
        timesPgbench: cost.postgresMs / limitPostgresMs,
        timesFloor: cost.nodeMs / floor,
      };
    };
    const lists = cases.map((one): MeasuredList => {
      const runs: Run[] = [];
      const told = { name: one.name, statements: asked.get(one)!.length, items: items.get(one)! };
      return {
        name: one.name,
        measure: async () => {
          const run = await measure(one);
          runs.push(run);
          return run;
        },
        figures: () => ({ ...told, ...middleOf(runs) }),
      };
    });
    return work(lists);
  });
}

/** Records the statements of one request, with key look-up; on a warm server unless `first`. */
export async function statementsFor(
  { database }: Subject,
  path: string,
  headers: Record<string, string>,
  { first = false } = {},
) {
  const app = await buildApp({ database, ...appOptions });
  const ask = () => app.inject({ method: 'GET', url: path, headers });
  if (!first) await ask();
  const sent = await recordStatements(ask);
  await app.close();
  return sent;
}

/** Processor time in ms for only reading the rows of a response and serialising them, with default V8 options. */
async function floorOf({ url }: Subject, statements: RecordedStatement[], seconds: number) {
  const child = fork(new URL('floor.ts', import.meta.url), { execArgv: ['--import', 'tsx'] });
  child.send({ url, statements: statements.map(asRows), seconds });
  const [milliseconds] = (await once(child, 'message')) as [number];
  return milliseconds;
}

/** Expands the service's composite columns into the columns of their rows. */
export function asRows(one: RecordedStatement): RecordedStatement {
  if (!one.name?.startsWith(statementPrefix.page)) return one;
  const text = /\(select \* from \((.*)\) as t\(c0[^)]*\) limit \d+\) as t/s.exec(one.text)?.[1];
  if (!text) throw new Error(`these are no records: ${one.text}`);
  return { ...one, text };
}
