import type { Subject } from '../database.ts';
import type { Dataset } from '../dataset.ts';
import { withServer } from '../server.ts';
import type { PeerQuery, Side } from './peer.ts';

/** The service twice: with and without its response cache. */
export function ours<T>(subject: Subject, { apiKey }: Dataset, work: (sides: Side[]) => Promise<T>): Promise<T> {
  return withServer(subject, { RESPONSE_CACHE_MB: '0' }, (cold) =>
    withServer(subject, {}, (warm) =>
      work([
        { name: 'ours, uncached', pid: cold.pid, queries: createQueries(cold.base, apiKey) },
        { name: 'ours, cached', pid: warm.pid, queries: createQueries(warm.base, apiKey) },
      ]),
    ),
  );
}

function createQueries(base: string, apiKey: string): Side['queries'] {
  const createQuery = (path: string) => ({
    url: base + path,
    method: 'GET' as const,
    headers: { 'x-api-key': apiKey },
  });
  const titles = (all: any[]) => all.map(({ title }) => title);
  const coursedates: PeerQuery<'coursedates'> = {
    ...createQuery('/v2/coursedates?limit=75'),
    normalise: ({ pagination: { total_items: total }, items }) => ({
      ...{ total, items: items.map((date: any) => ({ id: date.coursedate_id, start: date.start_at })) },
    }),
  };
  const includes: PeerQuery<'includes'> = {
    ...createQuery('/v2/coursedates?limit=75&include[]=course&include[]=location&include[]=instructors'),
    normalise: ({ pagination: { total_items: total }, items }) => ({
      total,
      items: items.map(({ coursedate_id: id, course, location, instructors }: any) => ({
        ...{ id, course: course.title, tags: titles(course.tags), location: location.title },
        instructors: titles(instructors).map((title: string) => title.replace('Kari ', '')),
      })),
    }),
  };
  const courses: PeerQuery<'courses'> = {
    ...createQuery('/v2/courses?limit=75'),
    normalise: (items) => ({
      items: items.map(({ id, title, descriptions, tags }: any) => ({
        ...{ id, title, text: descriptions.description, tags: titles(tags) },
      })),
    }),
  };
  return { coursedates, includes, courses };
}
