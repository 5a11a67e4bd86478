import { setTimeout as pause } from 'node:timers/promises';
import type { Subject } from './database.ts';
import { withServer } from './server.ts';

export type StaleFigures = { stale: number; reads: number; unchanged: number; writes: number };

/** The paths to read, by the ids of the courses and of their dates. */
type ToPaths = (courses: number[], dates: number[]) => string[];

export const listPaths: ToPaths = (courses, dates) => [
  ...['', '&include[]=products', '&limit=10', '&paginate=1'].map(
    (more) => `/v2/courses?since_id=${courses[0]! - 1}${more}`,
  ),
  // A date inherits the title of its course.
  ...['', '&include[]=course'].map((more) => `/v2/coursedates?since_id=${dates[0]! - 1}${more}`),
  `/v2/batch/coursedates?course_ids=${courses.join(',')}`,
];

/**
 * Writers rename four courses as fast as possible while readers fetch them and their dates in several ways, also by
 * ETag. A response is stale if it is older than a write acknowledged before its request was sent.
 */
export async function measureStale(
  subject: Subject,
  { apiKey }: { apiKey: string },
  seconds: number,
  toPaths: ToPaths = listPaths,
): Promise<StaleFigures> {
  return withServer(subject, { PUBLIC_REQUESTS_PER_MINUTE: '1000000' }, async ({ base }) => {
    const headers = { 'x-api-key': apiKey, 'content-type': 'application/json' };
    const send = async (method: string, path: string, body?: object, more = {}) => {
      const init = { method, headers: { ...headers, ...more } };
      const response = await fetch(base + path, body ? { ...init, body: JSON.stringify(body) } : init);
      return { status: response.status, etag: response.headers.get('etag') ?? '', text: await response.text() };
    };
    const ids: number[] = [];
    for (let n = 0; n < 4; n += 1) {
      const { text } = await send('POST', '/v2/courses', { title: `Renamed ${process.pid} ${n}: 0` });
      ids.push((JSON.parse(text) as { course_id: number }).course_id);
    }
    const dates: number[] = [];
    for (const id of ids) {
      const day = '2030-06-10';
      const { text } = await send('POST', `/v2/courses/${id}/coursedates`, { start_at: day, end_at: day });
      dates.push((JSON.parse(text) as { coursedate_id: number }).coursedate_id);
    }
    const urls = toPaths(ids, dates);
    const acknowledged = ids.map(() => 0);
    const figures: StaleFigures = { stale: 0, reads: 0, unchanged: 0, writes: 0 };
    const until = performance.now() + seconds * 1_000;

    const write = async (n: number) => {
      while (performance.now() < until) {
        const { status } = await send('PUT', `/v2/courses/${ids[n]}`, {
          title: `Renamed ${process.pid} ${n}: ${acknowledged[n]! + 1}`,
        });
        if (status !== 200) throw new Error(`a write returned ${status}`);
        acknowledged[n]! += 1;
        figures.writes += 1;
        await pause(Math.random() * 40);
      }
    };
    const read = async () => {
      const cached = new Map<string, { etag: string; versions: number[] }>();
      while (performance.now() < until) {
        for (const url of urls) {
          const before = [...acknowledged];
          const last = cached.get(url);
          const { status, etag, text } = await send('GET', url, undefined, last ? { 'if-none-match': last.etag } : {});
          if (status !== 200 && status !== 304) throw new Error(`a read returned ${status}`);
          const versions = status === 304 ? last!.versions : parseVersions(text);
          cached.set(url, { etag, versions });
          figures.reads += 1;
          if (status === 304) figures.unchanged += 1;
          if (versions.length !== before.length || versions.some((number, n) => number < before[n]!))
            figures.stale += 1;
        }
      }
    };
    await Promise.all([...ids.map((_, n) => write(n)), read(), read(), read(), read()]);
    return figures;
  });
}

/** The numbers in the titles, in course order: the lowest of each course. */
function parseVersions(text: string) {
  const versions = new Map<number, number>();
  for (const [, course, version] of text.matchAll(renamed))
    versions.set(Number(course), Math.min(Number(version), versions.get(Number(course)) ?? Infinity));
  return [...versions].sort(([one], [other]) => one - other).map(([, version]) => version);
}
const renamed = new RegExp(`Renamed ${process.pid} (\\d+): (\\d+)`, 'g');
