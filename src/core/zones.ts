import { sql } from 'drizzle-orm';
import type { Ctx } from './context.ts';

/** Files beside the zones that some systems ship in other forms, or as one's own. */
const noZones = '^(posix/|right/|(localtime|posixrules|Factory)$)';

/** Whether PostgreSQL, which does all arithmetic with zones, knows one by this name, as IANA writes it. */
export const isZone = async ({ db }: Pick<Ctx, 'db'>, name: string) =>
  (await db.$count(sql`pg_timezone_names`, sql`name = ${name} and name !~ ${noZones}`)) > 0;
