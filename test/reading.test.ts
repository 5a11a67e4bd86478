import { eq } from 'drizzle-orm';
import { expect, test } from 'vitest';
import { inOneText } from '../src/database/reading.ts';
import { courseDates } from '../src/database/tables/coursedates.ts';
import { courses } from '../src/database/tables/courses.ts';
import { sharedWorld } from './support/world.ts';

const { database, newProvider } = await sharedWorld();

test('rows that come as one JSON text are the same as those that come by the cell', async () => {
  const me = await newProvider();
  const title = 'Fjell "og" \\ fjord\n\t\u0001\u001f\u2028 – 🏔 \' $1 []{}';
  await me.course({ title, price_value: 1234 });
  await me.course();
  const query = database.db.select().from(courses).where(eq(courses.providerId, me.id)).orderBy(courses.id);
  const [text, cells] = [await query.prepare(`${inOneText}same`).execute(), await query.prepare('same').execute()];
  expect(cells).toHaveLength(2);
  expect(cells[0]).toMatchObject({
    title,
    providerId: me.id,
    createdAt: expect.stringMatching(/^\d{4}-\d\d-\d\d \d\d:/),
  });
  expect(text).toEqual(cells);

  const none = database.db.select().from(courseDates).where(eq(courseDates.providerId, me.id));
  expect(await none.prepare(`${inOneText}none`).execute()).toEqual([]);
});
