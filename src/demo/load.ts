import type { Settings } from '../core/context.ts';
import type { Database } from '../database/client.ts';
import { importRefs } from '../database/tables/imports.ts';
import { importLines } from '../import-export/import.ts';
import { tenantWhere } from '../lists/tenant-scope.ts';
import { approvePartner, requestPartner } from '../resources/schools/partner-service.ts';
import { createContext, createProvider, hasNoProviders } from '../resources/schools/provider-service.ts';
import { toColumns } from '../resources/schools/service.ts';
import { calendarOn } from './content/calendar.ts';
import { categoryLinesFor, courseLines } from './content/course-lines.ts';
import type { Line } from './content/lines.ts';
import { partnerDateLines } from './content/partner-dates.ts';
import { demoSchoolLines } from './content/school.ts';
import { demoSchool, partners, pendingPartner, subSchool } from './content/schools.ts';
import type { DemoProvider, DemoSchool } from './content/types.ts';

/**
 * Fills an empty database with a school and all it has, its partners and a sub-school, as imports; all of it or
 * nothing. The demo school is the first provider; its key is asked for once it is sure to be made, and returned. Null
 * when the database has providers already. Course dates lie around `today`, which is the database's day unless given.
 */
export function loadDemo(
  database: Database,
  settings: Settings,
  newKey: () => string,
  today?: string,
): Promise<string | null> {
  return database.atomically(async (within) => {
    if (!(await hasNoProviders(within))) return null;
    const make = (school: DemoSchool, lines: Line[], parentId: number | null = null, key?: string) =>
      makeProvider(within, settings, school, lines, parentId, key);
    const makeOther = ({ school, courses }: DemoProvider, parentId?: number, more: Line[] = []) =>
      make(school, [...categoryLinesFor(courses), ...courseLines(courses), ...more], parentId);

    const apiKey = newKey();
    const calendar = calendarOn(today ?? (await getDay(within)));
    const demo = await make(demoSchool, demoSchoolLines(calendar), null, apiKey);
    for (const partner of partners) {
      const dates = partnerDateLines(calendar, partner.courses);
      await approvePartner(within, demo, await makeOther(partner, undefined, dates));
    }
    await requestPartner(within, demo, await makeOther(pendingPartner));
    await makeOther(subSchool, demo);
    return apiKey;
  });
}

/** The day it is in the service's time zone. */
async function getDay({ pool }: Database) {
  const { rows } = await pool.query<{ day: string }>('select current_date::text as day');
  return rows[0]!.day;
}

async function makeProvider(
  database: Database,
  settings: Settings,
  school: DemoSchool,
  lines: Line[],
  parentId: number | null,
  apiKey?: string,
) {
  const { providerId } = await createProvider(database, { ...toColumns(school), parentId }, apiKey);
  await fill(database, settings, providerId, lines);
  return providerId;
}

async function fill(database: Database, settings: Settings, providerId: number, lines: Line[]) {
  const numbered = lines.map((fields, n) => ({ number: n + 1, fields }));
  await importLines(database, settings, providerId, numbered, {
    onBadLine: ({ line, reason }) => {
      const { kind, ref } = lines[line - 1]!;
      throw new Error(`The demo's ${kind} ${ref}: ${reason}`);
    },
  });
  // A file that is imported later has refs of its own, which may be equal.
  const ctx = await createContext(database, settings, providerId);
  await ctx.write((tx) => tx.delete(importRefs).where(tenantWhere(ctx, importRefs)));
}
