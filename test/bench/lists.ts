import { fork } from 'node:child_process';
import { once } from 'node:events';
import { buildApp } from '../../src/app.ts';
import type { Case } from './cases.ts';
import { compositeRows, recordStatements, type RecordedStatement } from '../support/record-statements.ts';
import type { Subject } from './database.ts';
import type { Dataset } from './dataset.ts';
import { measureCost, medians, type Cost } from './cost.ts';
import { warmUp } from './load.ts';
import { pgbench, createScript } from './pgbench.ts';
import { appOptions, withServer } from './server.ts';
import { processTreeSeconds } from './usage.ts';

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
  const statementsByCase = new Map<Case, RecordedStatement[]>();
  for (const benchCase of cases) statementsByCase.set(benchCase, await recordRequest(subject, benchCase.path, headers));

  return withServer(subject, { RESPONSE_CACHE_MB: '0' }, async ({ base, pid }) => {
    const items = new Map<Case, number>();
    for (const benchCase of cases) {
      const body = (await (await fetch(base + benchCase.path, { headers })).json()) as unknown[] | { items: unknown[] };
      items.set(benchCase, Array.isArray(body) ? body.length : body.items.length);
    }
    const createLoad = (path: string) => ({ url: base + path, method: 'GET' as const, headers, connections: 8 });
    for (const { path } of cases) await warmUp(createLoad(path), { rounds });
    let tagCount = 0;
    const write = async () => {
      const body = new URLSearchParams({ title: `Measured ${pid} ${(tagCount += 1)}` });
      const { status } = await fetch(`${base}/v2/course-tags`, { method: 'POST', headers, body });
      if (status !== 201) throw new Error(`a write returned ${status}`);
    };
    const measure = async (benchCase: Case): Promise<Run> => {
      // Starts like a server after a write: without cached totals or page cursors.
      await write();
      const cost = await measureCost(subject, [pid], '200', { ...createLoad(benchCase.path), seconds, status: '200' });
      const limitBefore = processTreeSeconds(subject.pid);
      const limit = isLimited
        ? await pgbench(subject, createScript(statementsByCase.get(benchCase)!, [], [], []), 2, seconds)
        : { perSecond: NaN, count: NaN };
      const limitPostgresMs = ((processTreeSeconds(subject.pid) - limitBefore) * 1_000) / limit.count;
      const floor = floors.includes(benchCase.name)
        ? await measureFloor(subject, statementsByCase.get(benchCase)!, Math.min(2, seconds))
        : NaN;
      return {
        ...cost,
        limit: limit.perSecond,
        share: cost.perSecond / limit.perSecond,
        timesPgbench: cost.postgresMs / limitPostgresMs,
        timesFloor: cost.nodeMs / floor,
      };
    };
    const lists = cases.map((benchCase): MeasuredList => {
      const runs: Run[] = [];
      const description = {
        name: benchCase.name,
        statements: statementsByCase.get(benchCase)!.length,
        items: items.get(benchCase)!,
      };
      return {
        name: benchCase.name,
        measure: async () => {
          const run = await measure(benchCase);
          runs.push(run);
          return run;
        },
        figures: () => ({ ...description, ...medians(runs) }),
      };
    });
    return work(lists);
  });
}

/** Records the statements of one request, with key look-up; on a warm server unless `first`. */
export async function recordRequest(
  { database }: Subject,
  path: string,
  headers: Record<string, string>,
  { first = false } = {},
) {
  const app = await buildApp({ database, ...appOptions });
  const send = () => app.inject({ method: 'GET', url: path, headers });
  if (!first) await send();
  const sent = await recordStatements(send);
  await app.close();
  return sent;
}

/** Processor time in ms for only reading the rows of a response and serialising them, with default V8 options. */
async function measureFloor({ url }: Subject, statements: RecordedStatement[], seconds: number) {
  const child = fork(new URL('floor.ts', import.meta.url), { execArgv: ['--import', 'tsx'] });
  child.send({ url, statements: statements.map(expandRecords), seconds });
  const [milliseconds] = (await once(child, 'message')) as [number];
  return milliseconds;
}

/** Expands the service's composite columns into the columns of their rows; the last value bounds the bytes. */
export function expandRecords(benchCase: RecordedStatement): RecordedStatement {
  const text = compositeRows.exec(benchCase.text)?.[1];
  return text === undefined ? benchCase : { ...benchCase, text, values: benchCase.values.slice(0, -1) };
}
