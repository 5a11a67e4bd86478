import { eq } from 'drizzle-orm';
import { queryBuilderOn } from '../../../database/reader.ts';
import { catalogNames, catalogSettings } from '../../../database/tables/providers.ts';
import { ok, warning, type SystemCheck } from '../../../interfaces/plugin/checks.ts';

export const hostCheck: SystemCheck = {
  check: 'catalog hosts',
  async run({ pool, config }) {
    const { hostname } = new URL(config.PUBLIC_URL);
    const db = queryBuilderOn(pool);
    const names = db.select({ id: catalogNames.providerId }).from(catalogNames).where(eq(catalogNames.name, hostname));
    const rows = await db
      .select({ id: catalogSettings.providerId })
      .from(catalogSettings)
      .where(eq(catalogSettings.host, hostname))
      .union(names);
    if (rows.length === 0) return [ok('No catalog has the host name of PUBLIC_URL')];
    return rows.map(({ id }) =>
      warning(
        `The catalog of school ${id} has the host name of PUBLIC_URL, which has no effect: set another one, or null`,
      ),
    );
  },
};
