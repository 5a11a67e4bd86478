import { expect, test } from 'vitest';
import { approvePartner } from '../../../src/domains/school/schools/partner-service.ts';
import { sharedTestApp } from '../../support/test-app.ts';

const { database, createProvider } = await sharedTestApp();

type Listed = { id: number; coursedate_id?: number };
type Paged = { items: Listed[]; pagination: { total_items: number } };

/** From a fifth of the courses on lists use another strategy: ten courses are at the threshold, eleven above. */
test('tag filters give the same results for rare and frequent tags, with totals, pages and partners', async () => {
  const [me, partner] = [await createProvider(), await createProvider()];
  await approvePartner(database, me.id, partner.id);
  await partner.course({ tags: [{ title: 'red' }] });
  const all: number[] = [];
  for (let n = 0; n < 10; n += 1) {
    const titles = [...(n === 2 || n === 7 ? ['red'] : []), ...(n === 7 ? ['blue'] : [])];
    all.push(await me.course({ tags: titles.map((title) => ({ title })) }));
  }
  const tags = (await me.get('/v2/course-tags')).json<{ id: number; title: string }[]>();
  const [red, blue] = ['red', 'blue'].map((name) => tags.find(({ title }) => title === name)!.id);
  const dates: number[] = [];
  for (const courseId of [all[2]!, all[3]!, all[7]!]) {
    const created = await me.post(`/v2/courses/${courseId}/coursedates`, {
      start_at: '2030-05-01',
      end_at: '2030-05-01',
    });
    dates.push(created.json<{ coursedate_id: number }>().coursedate_id);
  }
  const both = [all[2]!, all[7]!];

  const check = async () => {
    const ids = async (path: string) => (await me.get(`/v2/${path}`)).json<Listed[]>().map(({ id }) => id);
    const paged = async (path: string) => {
      const { items, pagination } = (await me.get(`/v2/${path}`)).json<Paged>();
      return [items.map(({ id, coursedate_id: dateId }) => dateId ?? id), pagination.total_items];
    };
    for (const partners of ['', '&include_partners=1']) {
      expect(await ids(`courses?tag_ids=${red}${partners}`)).toEqual(both);
      expect(await ids(`courses?tag_ids=${red},${blue}&tag_match=all${partners}`)).toEqual([all[7]]);
      expect(await ids(`courses?tag_ids=${red}&limit=1&page=2${partners}`)).toEqual([all[7]]);
      expect(await ids(`courses?tag_ids=${red}&since_id=${all[2]}${partners}`)).toEqual([all[7]]);
      expect(await paged(`courses?tag_ids=${red}&paginate=1&limit=1${partners}`)).toEqual([[all[2]], 2]);
      expect(await paged(`coursedates?tag_ids=${red}&limit=1&page=2${partners}`)).toEqual([[dates[2]], 2]);
      expect(await paged(`coursedates?tag_ids=${red}&course_id=${all[3]}${partners}`)).toEqual([[], 0]);
    }
  };
  await check();
  all.push(await me.course());
  await check();
});
