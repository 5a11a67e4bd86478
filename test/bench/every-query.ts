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
export type QuestionCost = {
  name: string;
  items: number;
  more: boolean;
  before: number;
  nodeMs: number;
  postgresMs: number;
};

const times = 5;

type Both<T> = { large: T; small: T };

/**
 * Measures every list with every documented filter, order and include, alternating between both sizes; the minimum of a
 * few runs counts.
 */
export async function measureEveryQuestion(sides: Both<[Subject, Dataset]>): Promise<Both<QuestionCost>[]> {
  const [large, small] = [await questionsOf(...sides.large), await questionsOf(...sides.small)];
  try {
    const costs: Both<QuestionCost>[] = [];
    for (const [n, measure] of large.questions.entries()) {
      costs.push({ large: await measure(), small: await small.questions[n]!() });
    }
    return costs;
  } finally {
    await large.close();
    await small.close();
  }
}

async function questionsOf(subject: Subject, dataset: Dataset) {
  const app = await buildApp({ database: subject.database, ...appOptions });
  await app.ready();
  const asking = await collectFilterValues(subject.database, dataset.providerId);
  const questions = buildListUrls(app, asking).map(({ path, question, url }) => async () => ({
    name: `${path} ${question}`.trim(),
    ...(await costOfQuestion(app, subject, dataset, url)),
  }));
  return { questions, close: () => app.close() };
}

type Envelope = { items: unknown[]; pagination: { next_page: number | null } };

async function costOfQuestion(app: App, subject: Subject, { apiKey }: Dataset, url: string) {
  const answerTo = (asked: string) => app.inject({ method: 'GET', url: asked, headers: { 'x-api-key': apiKey } });
  const ask = () => {
    // Without pagination hints, as on the first request.
    app.listCache.pageHints.clear();
    return answerTo(url);
  };
  const { items, more } = lengthOf(await ask());
  const before = await itemsBefore(url, async (asked) => lengthOf(await answerTo(asked)));
  const sent = await recordStatements(ask);
  let postgresMs = 0;
  for (const one of sent.filter(({ text }) => /^(with|select)(?! count)/.test(text)))
    postgresMs += await least(() => databaseTime(subject, one));
  const nodeMs = await least(async () => {
    const before = process.cpuUsage();
    await ask();
    const { user, system } = process.cpuUsage(before);
    return (user + system) / 1_000;
  });
  return { items, more, before, nodeMs, postgresMs };
}

type Length = { items: number; more: boolean };

function lengthOf({ headers, json }: Awaited<ReturnType<App['inject']>>): Length {
  const answer = json<unknown[] | Envelope>();
  return Array.isArray(answer)
    ? { items: answer.length, more: headers['link'] !== undefined }
    : { items: answer.items.length, more: answer.pagination.next_page !== null };
}

/** A page past the end does not contain its offset; take it from the last page with items. */
async function itemsBefore(url: string, ask: (url: string) => Promise<Length>) {
  const asked = new URL(url, 'http://path.only');
  const at = async (page: number) => {
    asked.searchParams.set('page', String(page));
    return ask(asked.pathname + asked.search);
  };
  const limit = Number(asked.searchParams.get('limit') ?? 75);
  for (let page = Number(asked.searchParams.get('page') ?? 1) - 1; page > 0; page -= 1) {
    const { items } = await at(page);
    if (items > 0) return (page - 1) * limit + items;
  }
  return 0;
}

async function least(measure: () => Promise<number>) {
  let found = Infinity;
  for (let n = 0; n < times; n += 1) found = Math.min(found, await measure());
  return found;
}

type Explained = { 'QUERY PLAN': { 'Planning Time': number; 'Execution Time': number }[] };

/** Includes planning time, since unnamed statements are planned on every execution. */
async function databaseTime({ database }: Subject, { name, text, values }: RecordedStatement) {
  const { rows } = await database.pool.query<Explained>(`explain (analyze, timing off, format json) ${text}`, values);
  const { 'Planning Time': planning, 'Execution Time': execution } = rows[0]!['QUERY PLAN'][0]!;
  return execution + (name ? 0 : planning);
}
