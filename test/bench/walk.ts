import type { Subject } from './database.ts';
import type { Dataset } from './dataset.ts';
import { withServer } from './server.ts';
import { secondsOf, secondsOfFamily } from './usage.ts';

const warmUp = 300;
const measured = 2_000;

type Answer = { pagination: { next_page: number | null } };

/** How many pages a list has, and milliseconds of Node and PostgreSQL for one of them, asked for one after the other by `page`, and over again. */
export async function measureWalk(subject: Subject, { apiKey }: Dataset, path: string) {
  const headers = { 'x-api-key': apiKey };
  return withServer(subject, { ANSWER_CACHE_MB: '0' }, async ({ base, pid }) => {
    let [page, pages] = [1, 1];
    async function walk(count: number) {
      for (let n = 0; n < count; n += 1) {
        const answer = await fetch(`${base}${path}?page=${page}`, { headers });
        if (!answer.ok) throw new Error(`page ${page} was ${answer.status}`);
        const { pagination } = (await answer.json()) as Answer;
        pages = Math.max(pages, page);
        page = pagination.next_page ?? 1;
      }
    }
    await walk(warmUp);
    const [node, postgres] = [secondsOf(pid), secondsOfFamily(subject.pid)];
    await walk(measured);
    const seconds = secondsOf(pid) - node + (secondsOfFamily(subject.pid) - postgres);
    return { pages, ms: (seconds * 1_000) / measured };
  });
}
