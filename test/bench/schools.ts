import { allAreas } from '../../src/database/areas.ts';
import { createTitledProvider } from '../../src/domains/school/schools/service.ts';
import type { Subject } from './database.ts';

/** Inserts rows of a new school; `:me` in a statement is its id, and `:at` the time. */
export async function createSchool({ database }: Subject, title: string, statements: string[]) {
  const school = await createTitledProvider(database, title, null);
  await database.write([school.providerId], allAreas, async ({ tx, now }) => {
    for (const text of statements) {
      const filled = text.replaceAll(':me', String(school.providerId)).replaceAll(':at', `'${now}'::timestamptz`);
      await tx.$client.query({ text: filled });
    }
  });
  return school;
}
