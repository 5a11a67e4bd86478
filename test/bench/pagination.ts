import type { Subject } from './database.ts';
import type { Dataset } from './dataset.ts';
import { alternate } from './figures.ts';
import { withServer } from './server.ts';
import { processSeconds, processTreeSeconds } from './usage.ts';

const warmUp = 300;
const minPages = 2_000;
const pagesPerRound = 250;

type Side = [Subject, Dataset];
type PageBody = { pagination: { total_pages: number } };
/** Reads the next pages; returns the cost per page in ms of Node and PostgreSQL. */
type PageReader = { pages: number; read(count: number): Promise<number> };

/** Cost per page of reading a whole list by `page`, alternating between both sizes. */
export async function measurePagination(large: Side, small: Side, path: string) {
  return withReader(large, path, (largeReader) =>
    withReader(small, path, async (smallReader) => {
      const rounds: [number, number][] = [];
      for (let pageCount = 0; pageCount < Math.max(minPages, largeReader.pages); pageCount += pagesPerRound) {
        rounds.push(
          await alternate(
            rounds.length,
            () => largeReader.read(pagesPerRound),
            () => smallReader.read(pagesPerRound),
          ),
        );
      }
      // Averaged over all rounds, since each round reads another part of the list.
      const mean = (figures: number[]) => figures.reduce((sum, ms) => sum + ms, 0) / figures.length;
      const [ms, before] = [mean(rounds.map(([first]) => first)), mean(rounds.map(([, second]) => second))];
      return {
        large: { pages: largeReader.pages, ms },
        small: { pages: smallReader.pages, ms: before },
        growth: ms / before,
      };
    }),
  );
}

async function withReader<T>([subject, { apiKey }]: Side, path: string, work: (reader: PageReader) => Promise<T>) {
  const headers = { 'x-api-key': apiKey };
  return withServer(subject, { RESPONSE_CACHE_MB: '0' }, async ({ base, pid }) => {
    async function fetchPage(page: number) {
      const response = await fetch(`${base}${path}?page=${page}`, { headers });
      if (!response.ok) throw new Error(`page ${page} returned ${response.status}`);
      return ((await response.json()) as PageBody).pagination.total_pages;
    }
    const pages = await fetchPage(1);
    for (let n = 0; n < warmUp; n += 1) await fetchPage(1 + (n % pages));
    let nextPage = 0;
    return work({
      pages,
      async read(count) {
        const [node, postgres] = [processSeconds(pid), processTreeSeconds(subject.pid)];
        for (let n = 0; n < count; n += 1) await fetchPage(1 + (nextPage++ % pages));
        const seconds = processSeconds(pid) - node + (processTreeSeconds(subject.pid) - postgres);
        return (seconds * 1_000) / count;
      },
    });
  });
}
