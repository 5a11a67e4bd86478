import type { Subject } from './database.ts';
import type { Dataset } from './dataset.ts';
import { withServer } from './server.ts';
import { secondsOf, secondsOfFamily } from './usage.ts';

const warmUp = 300;
const atLeast = 2_000;

type Answer = { pagination: { total_pages: number } };

/** How many pages a list has, and milliseconds of Node and PostgreSQL for one of them, asked for one after the other by `page`, and over again. */
export async function measureWalk(subject: Subject, { apiKey }: Dataset, path: string) {
  const headers = { 'x-api-key': apiKey };
  return withServer(subject, { ANSWER_CACHE_MB: '0' }, async ({ base, pid }) => {
    async function ask(page: number) {
      const answer = await fetch(`${base}${path}?page=${page}`, { headers });
      if (!answer.ok) throw new Error(`page ${page} was ${answer.status}`);
      return ((await answer.json()) as Answer).pagination.total_pages;
    }
    const pages = await ask(1);
    const asked = pages * Math.ceil(atLeast / pages);
    for (let n = 0; n < warmUp; n += 1) await ask(1 + (n % pages));
    const [node, postgres] = [secondsOf(pid), secondsOfFamily(subject.pid)];
    for (let n = 0; n < asked; n += 1) await ask(1 + (n % pages));
    const seconds = secondsOf(pid) - node + (secondsOfFamily(subject.pid) - postgres);
    return { pages, ms: (seconds * 1_000) / asked };
  });
}
