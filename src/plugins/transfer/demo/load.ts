import type { Settings } from '../../../core/settings.ts';
import { allAreas } from '../../../database/areas.ts';
import type { Database } from '../../../database/client.ts';
import { importRefs } from '../../../database/tables/imports.ts';
import { importLines } from '../import.ts';
import { tenantWhere } from '../../../lists/tenant-scope.ts';
import { approvePartner, requestPartner } from '../../../domains/school/schools/partner-service.ts';
import { createContext, createProvider, hasNoProviders } from '../../../domains/school/schools/provider-service.ts';
import { toColumns } from '../../../domains/school/schools/service.ts';
import { calendarOn } from './content/calendar.ts';
import { categoryLinesFor, courseLines } from './content/course-lines.ts';
import type { Line } from './content/lines.ts';
import { partnerDateLines } from './content/partner-dates.ts';
import { demoSchoolLines } from './content/school.ts';
import { demoSchool, partners, pendingPartner, subSchool } from './content/schools.ts';
import type { DemoProvider, DemoSchool } from './content/types.ts';

/**
 * Imports a demo school, its partners and a sub-school in one transaction. Returns the school's API key, or null if the
 * database already has providers. Course dates lie around `today`, by default the database's current date.
 */
export function loadDemo(
  database: Database,
  settings: Settings,
  newKey: () => string,
  today?: string,
): Promise<string | null> {
  return database.atomically(async (txDatabase) => {
    if (!(await hasNoProviders(txDatabase))) return null;
    const create = (school: DemoSchool, lines: Line[], parentId: number | null = null, key?: string) =>
      createDemoProvider(txDatabase, settings, school, lines, parentId, key);
    const createOther = ({ school, courses }: DemoProvider, parentId?: number, more: Line[] = []) =>
      create(school, [...categoryLinesFor(courses), ...courseLines(courses), ...more], parentId);

    // So that nobody takes the id of an order for that of its booking.
    await txDatabase.pool.query("select max(nextval('bookings_id_seq')) from generate_series(1, 1000)");
    const apiKey = newKey();
    const calendar = calendarOn(today ?? (await loadToday(txDatabase)));
    const demo = await create(demoSchool, demoSchoolLines(calendar), null, apiKey);
    for (const partner of partners) {
      const dates = partnerDateLines(calendar, partner.courses);
      await approvePartner(txDatabase, demo, await createOther(partner, undefined, dates));
    }
    await requestPartner(txDatabase, demo, await createOther(pendingPartner));
    await createOther(subSchool, demo);
    return apiKey;
  });
}

/** The current date in the service's time zone. */
async function loadToday({ pool }: Database) {
  const { rows } = await pool.query<{ day: string }>('select current_date::text as day');
  return rows[0]!.day;
}

async function createDemoProvider(
  database: Database,
  settings: Settings,
  school: DemoSchool,
  lines: Line[],
  parentId: number | null,
  apiKey?: string,
) {
  const { providerId } = await createProvider(database, { ...toColumns(school), parentId }, apiKey);
  await importDemoLines(database, settings, providerId, lines);
  return providerId;
}

async function importDemoLines(database: Database, settings: Settings, providerId: number, lines: Line[]) {
  const numbered = lines.map((fields, n) => ({ number: n + 1, fields }));
  await importLines(database, settings, providerId, numbered, {
    onBadLine: ({ line, reason }) => {
      const { kind, ref } = lines[line - 1]!;
      throw new Error(`The demo's ${kind} ${ref}: ${reason}`);
    },
  });
  // A later import may use the same refs.
  const ctx = await createContext(database, settings, providerId);
  await ctx.write(allAreas, (tx) => tx.delete(importRefs).where(tenantWhere(ctx, importRefs)));
}
