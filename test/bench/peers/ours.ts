import type { Subject } from '../database.ts';
import type { Dataset } from '../dataset.ts';
import { withServer } from '../server.ts';
import type { Question, Side } from './peer.ts';

/** The service twice: with and without its response cache. */
export function ours<T>(subject: Subject, { apiKey }: Dataset, work: (sides: Side[]) => Promise<T>): Promise<T> {
  return withServer(subject, { RESPONSE_CACHE_MB: '0' }, (cold) =>
    withServer(subject, {}, (warm) =>
      work([
        { name: 'ours, cold', pid: cold.pid, questions: questions(cold.base, apiKey) },
        { name: 'ours, warm', pid: warm.pid, questions: questions(warm.base, apiKey) },
      ]),
    ),
  );
}

function questions(base: string, apiKey: string): Side['questions'] {
  const ask = (path: string) => ({ url: base + path, method: 'GET' as const, headers: { 'x-api-key': apiKey } });
  const titles = (all: any[]) => all.map(({ title }) => title);
  const coursedates: Question<'coursedates'> = {
    ...ask('/v2/coursedates?limit=75'),
    told: ({ pagination: { total_items: total }, items }) => ({
      ...{ total, items: items.map((date: any) => ({ id: date.coursedate_id, start: date.start_at })) },
    }),
  };
  const includes: Question<'includes'> = {
    ...ask('/v2/coursedates?limit=75&include[]=course&include[]=location&include[]=instructors'),
    told: ({ pagination: { total_items: total }, items }) => ({
      total,
      items: items.map(({ coursedate_id: id, course, location, instructors }: any) => ({
        ...{ id, course: course.title, tags: titles(course.tags), location: location.title },
        instructors: titles(instructors).map((title: string) => title.replace('Kari ', '')),
      })),
    }),
  };
  const courses: Question<'courses'> = {
    ...ask('/v2/courses?limit=75'),
    told: (items) => ({
      items: items.map(({ id, title, descriptions, tags }: any) => ({
        ...{ id, title, text: descriptions.description, tags: titles(tags) },
      })),
    }),
  };
  return { coursedates, includes, courses };
}
