import { buildApp, type App } from '../../src/app.ts';
import { collectFilterValues, buildListUrls } from '../support/list-urls.ts';
import { recordStatements, type RecordedStatement } from '../support/record-statements.ts';
import type { Subject } from './database.ts';
import type { Dataset } from './dataset.ts';
import { appOptions } from './server.ts';

/**
 * Cost of one query in milliseconds: Node's processor time, and PostgreSQL's without the total count. `more`: further
 * pages match; `before`: number of items on earlier pages.
 */
export type QueryCost = {
  name: string;
  items: number;
  more: boolean;
  before: number;
  nodeMs: number;
  postgresMs: number;
};

const repetitions = 5;

type Both<T> = { large: T; small: T };

/**
 * Measures every list with every documented filter, order and include, alternating between both sizes; the minimum of a
 * few runs counts.
 */
export async function measureEveryQuery(sides: Both<[Subject, Dataset]>): Promise<Both<QueryCost>[]> {
  const [large, small] = [await createMeasurements(...sides.large), await createMeasurements(...sides.small)];
  try {
    const costs: Both<QueryCost>[] = [];
    for (const [n, measure] of large.measurements.entries()) {
      costs.push({ large: await measure(), small: await small.measurements[n]!() });
    }
    return costs;
  } finally {
    await large.close();
    await small.close();
  }
}

async function createMeasurements(subject: Subject, dataset: Dataset) {
  const app = await buildApp({ database: subject.database, ...appOptions });
  await app.ready();
  const filterValues = await collectFilterValues(subject.database, dataset.providerId);
  const measurements = buildListUrls(app, filterValues).map(({ path, query, url }) => async () => ({
    name: `${path} ${query}`.trim(),
    ...(await measureQuery(app, subject, dataset, url)),
  }));
  return { measurements, close: () => app.close() };
}

/** The changes have a cursor instead of pages. */
type Envelope = { items: unknown[] } & ({ pagination: { next_page: number | null } } | { has_more: boolean });

async function measureQuery(app: App, subject: Subject, { apiKey }: Dataset, url: string) {
  const send = (requestUrl: string) => app.inject({ method: 'GET', url: requestUrl, headers: { 'x-api-key': apiKey } });
  const sendUncached = () => {
    // Without pagination hints, as on the first request.
    app.listCache.pageHints.clear();
    return send(url);
  };
  const { items, more } = parseLength(await sendUncached());
  const before = await itemsBefore(url, async (requestUrl) => parseLength(await send(requestUrl)));
  const sent = await recordStatements(sendUncached);
  let postgresMs = 0;
  for (const one of sent.filter(({ text }) => /^(with|select)(?! count)/.test(text)))
    postgresMs += await minimumOf(() => measureStatement(subject, one));
  const nodeMs = await minimumOf(async () => {
    const before = process.cpuUsage();
    await sendUncached();
    const { user, system } = process.cpuUsage(before);
    return (user + system) / 1_000;
  });
  return { items, more, before, nodeMs, postgresMs };
}

type Length = { items: number; more: boolean };

function parseLength({ headers, json }: Awaited<ReturnType<App['inject']>>): Length {
  const body = json<unknown[] | Envelope>();
  return Array.isArray(body)
    ? { items: body.length, more: headers['link'] !== undefined }
    : { items: body.items.length, more: 'has_more' in body ? body.has_more : body.pagination.next_page !== null };
}

/** A page past the end does not contain its offset; take it from the last page with items. */
async function itemsBefore(url: string, sendUncached: (url: string) => Promise<Length>) {
  const requestUrl = new URL(url, 'http://path.only');
  const lengthOfPage = async (page: number) => {
    requestUrl.searchParams.set('page', String(page));
    return sendUncached(requestUrl.pathname + requestUrl.search);
  };
  const limit = Number(requestUrl.searchParams.get('limit') ?? 75);
  for (let page = Number(requestUrl.searchParams.get('page') ?? 1) - 1; page > 0; page -= 1) {
    const { items } = await lengthOfPage(page);
    if (items > 0) return (page - 1) * limit + items;
  }
  return 0;
}

async function minimumOf(measure: () => Promise<number>) {
  let found = Infinity;
  for (let n = 0; n < repetitions; n += 1) found = Math.min(found, await measure());
  return found;
}

type Explained = { 'QUERY PLAN': { 'Planning Time': number; 'Execution Time': number }[] };

/** Includes planning time, since unnamed statements are planned on every execution. */
async function measureStatement({ database }: Subject, { name, text, values }: RecordedStatement) {
  const { rows } = await database.pool.query<Explained>(`explain (analyze, timing off, format json) ${text}`, values);
  const { 'Planning Time': planning, 'Execution Time': execution } = rows[0]!['QUERY PLAN'][0]!;
  return execution + (name ? 0 : planning);
}
