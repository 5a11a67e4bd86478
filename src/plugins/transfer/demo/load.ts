import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { dayText } from '../../../core/date-format.ts';
import type { Settings } from '../../../core/settings.ts';
import { allAreas } from '../../../database/areas.ts';
import type { Database } from '../../../database/client.ts';
import { importRefs } from '../../../database/tables/imports.ts';
import { importLines } from '../import.ts';
import type { Fields } from '../record-type.ts';
import { tenantWhere } from '../../../lists/tenant-scope.ts';
import type { SchoolBody } from '../../../domains/school/schools/fields.ts';
import { approvePartner, requestPartner } from '../../../domains/school/schools/partner-service.ts';
import { createContext, createProvider, hasNoProviders, toColumns } from '../../../domains/school/schools/service.ts';
import { newApiKey } from '../../../core/api-key.ts';
import { toSettings, type Config } from '../../../core/config.ts';
import { makeFolder } from '../../../core/make-folder.ts';
import type { FirstData, ServerContext } from '../../../interfaces/plugin/define-plugin.ts';
import { findKeyProvider } from '../../../domains/school/auth/key-service.ts';
import { getCatalogSettings } from '../../../domains/school/catalog-settings/service.ts';
import { transferSettings } from '../settings.ts';

type StartContext = Pick<ServerContext, 'config' | 'database' | 'log'>;

const keyFile = ({ DATA_DIR }: Config) => join(DATA_DIR, 'demo-api-key');

/** Loads the demo data into an empty database if configured. Undefined without a demo school. */
export async function loadDemoAtStart({ config, database, log }: StartContext): Promise<FirstData | undefined> {
  if (!config.of(transferSettings).DEMO_DATA) return undefined;
  const audited = database.withAudit({ actor: 'server', actorId: null, action: 'demo' });
  if ((await hasNoProviders(database)) && (await createDemo(config, audited)) !== null)
    log.info(
      'Loaded the demo data: a school with courses, dates, participants and orders, its partners and a sub-school',
    );
  const found = await readDemoKey(config, database);
  if (found === null) return undefined;
  const { key, providerId } = found;
  const { url } = await getCatalogSettings(await createContext(database, toSettings(config), providerId));
  return {
    notes: [
      `The API key of the demo school is in ${resolve(keyFile(config))}`,
      ...(url === null ? [] : [`The public catalog of the demo school is at ${url}`]),
    ],
    welcome: (address) => [
      `  API key of the demo school: ${key}`,
      ...(url === null ? [] : [`  Its public catalog: ${url}`]),
      '',
      `  curl -H 'X-API-Key: ${key}' '${address}/v2/courses?limit=3'`,
    ],
  };
}

/** Returns the demo school's key, stored before the commit, so that a crash leaves no school without a known key. */
function createDemo(config: Config, database: Database): Promise<string | null> {
  return loadDemo(database, toSettings(config), () => {
    const key = newApiKey();
    makeFolder(config.DATA_DIR);
    // writeFileSync would preserve the mode of an existing file.
    rmSync(keyFile(config), { force: true });
    writeFileSync(keyFile(config), `${key}\n`, { mode: 0o600 });
    return key;
  });
}

/** Null unless this database has the key: the file may belong to another database. */
async function readDemoKey(config: Config, database: Database) {
  try {
    const key = readFileSync(keyFile(config), 'utf8').trim();
    const providerId = await findKeyProvider(database, key);
    return providerId === undefined ? null : { key, providerId };
  } catch {
    return null;
  }
}

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
    // So that nobody takes the id of an order for that of its booking.
    await txDatabase.pool.query("select max(nextval('bookings_id_seq')) from generate_series(1, 1000)");
    const apiKey = newKey();
    const day = today ?? (await loadToday(txDatabase));
    const create = (file: string, parentId: number | null = null, key?: string) =>
      createDemoProvider(txDatabase, settings, readDemo(file, day), parentId, key);
    const demo = await create('fjordkurs-bergen', null, apiKey);
    await approvePartner(txDatabase, demo, await create('hansa-matakademi'));
    await approvePartner(txDatabase, demo, await create('lovetann-it-akademi'));
    await requestPartner(txDatabase, demo, await create('nordlys-batskole'));
    await create('fjordkurs-stord', demo);
    return apiKey;
  });
}

/** The current date in the service's time zone. */
async function loadToday({ pool }: Database) {
  const { rows } = await pool.query<{ day: string }>('select current_date::text as day');
  return rows[0]!.day;
}

const plusDays = (day: string, days: number) =>
  new Date(Date.parse(day) + days * 86_400_000).toISOString().slice(0, 10);
/** Returns the day of the week, 0 for Sunday. */
const weekday = (day: string) => new Date(day).getUTCDay();
const lastSunday = (month: string) => plusDays(`${month}-31`, -weekday(`${month}-31`));

/**
 * The lines of a demo school, first the school itself. Days in a file are relative to the day of loading, so that there
 * are always past and future ones: `{today-7}`, `{monday+15}` from the Monday of this week, `{clock_change}` of Europe's
 * next change to or from daylight saving time. `:text` makes `01.07.2026` of a day, and `{spring?…:…}` has a text for
 * each change. Attendance of today and later is left out.
 */
export function readDemo(file: string, today: string): Fields[] {
  const year = Number(today.slice(0, 4));
  const changes = [year, year + 1].flatMap((one) => [lastSunday(`${one}-03`), lastSunday(`${one}-10`)]);
  const days: Record<string, string> = {
    today,
    monday: plusDays(today, -((weekday(today) + 6) % 7)),
    clock_change: changes.find((day) => day > today)!,
  };
  const isSpring = days['clock_change']!.slice(5, 7) === '03';
  const text = readFileSync(join(import.meta.dirname, `${file}.ndjson`), 'utf8')
    .replaceAll(
      /\{(today|monday|clock_change)([+-]\d+)?(:text)?\}/g,
      (_, from: string, offset = '0', form?: string) => {
        const day = plusDays(days[from]!, Number(offset));
        return form === undefined ? day : dayText(day);
      },
    )
    .replaceAll(/\{spring\?([^:}]+):([^}]+)\}/g, isSpring ? '$1' : '$2');
  return text
    .trimEnd()
    .split('\n')
    .map((line) => {
      const fields = JSON.parse(line) as Fields & { attendance?: { registered_at: string }[] };
      const attendance = fields.attendance?.filter(({ registered_at }) => registered_at < today);
      return { ...fields, attendance };
    });
}

async function createDemoProvider(
  database: Database,
  settings: Settings,
  [school, ...lines]: Fields[],
  parentId: number | null,
  apiKey?: string,
) {
  const { providerId } = await createProvider(database, { ...toColumns(school as SchoolBody), parentId }, apiKey);
  const numbered = lines.map((fields, n) => ({ number: n + 2, fields }));
  await importLines(database, settings, providerId, numbered, {
    onBadLine: ({ line, reason }) => {
      const { kind, ref } = lines[line - 2]!;
      throw new Error(`The demo's ${String(kind)} ${String(ref)}: ${reason}`);
    },
  });
  // A later import may use the same refs.
  const ctx = await createContext(database, settings, providerId);
  await ctx.write(allAreas, ({ tx }) => tx.delete(importRefs).where(tenantWhere(ctx, importRefs)));
  return providerId;
}
