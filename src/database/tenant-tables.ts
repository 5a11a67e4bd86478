import type { PoolOrClient } from './statements.ts';

/** A table with rows of providers, by its quoted name. */
export type TenantTable = {
  name: string;
  /** Its columns that name a provider: `provider_id`, and others with a foreign key to `providers`. */
  owners: string[];
  /** Its columns that name another row of the table. */
  ownReferences: string[];
};

type ForeignKey = { from: string; to: string; columns: string[] };

/** All tables with rows of providers, `providers` apart; a table follows those that refer to it. */
export async function readTenantTables(database: PoolOrClient): Promise<TenantTable[]> {
  const [tenants, foreignKeys] = await Promise.all([readTenants(database), readForeignKeys(database)]);
  const names = [...new Set([...tenants, ...foreignKeys.filter(isToProviders).map(({ from }) => from)])];
  const remaining = new Set(names.filter((name) => name !== 'providers').sort());
  const sorted: string[] = [];
  while (remaining.size > 0) {
    const next = [...remaining].filter((name) =>
      foreignKeys.every(({ from, to }) => to !== name || from === name || !remaining.has(from)),
    );
    if (next.length === 0) throw new Error(`foreign keys in a circle: ${[...remaining].join(', ')}`);
    for (const name of next) remaining.delete(name);
    sorted.push(...next);
  }
  return sorted.map((name) => {
    const own = foreignKeys.filter(({ from }) => from === name);
    const references = own.filter(({ to }) => to === name).flatMap(({ columns }) => columns);
    const owners = own.filter(isToProviders).flatMap(({ columns }) => columns);
    return {
      name,
      owners: [...new Set([...(tenants.includes(name) ? ['provider_id'] : []), ...owners])],
      ownReferences: references.filter((column) => column !== 'provider_id'),
    };
  });
}

const isToProviders = ({ to }: ForeignKey) => to === 'providers';

async function readTenants(database: PoolOrClient) {
  const { rows } = await database.query<{ name: string }>(
    `select c.oid::regclass::text as name from pg_class c
       join pg_attribute a on a.attrelid = c.oid and a.attname = 'provider_id' and not a.attisdropped
     where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p') and not c.relispartition
       and c.relowner = (select relowner from pg_class where oid = 'public.providers'::regclass)`,
  );
  return rows.map(({ name }) => name);
}

async function readForeignKeys(database: PoolOrClient) {
  const { rows } = await database.query<ForeignKey>(
    `select conrelid::regclass::text as from, confrelid::regclass::text as to, array(
         select quote_ident(a.attname) from unnest(conkey) k join pg_attribute a on a.attrelid = conrelid and a.attnum = k
       ) as columns
     from pg_constraint where contype = 'f' and connamespace = 'public'::regnamespace and conparentid = 0`,
  );
  return rows;
}

/** The columns of a table that may be unset, with SQL for their values then. */
export async function readUnsetValues(database: PoolOrClient, table: string) {
  const { rows } = await database.query<{ column: string; value: string }>(
    `select quote_ident(a.attname) as column, coalesce(pg_get_expr(d.adbin, d.adrelid), 'null') as value
     from pg_attribute a left join pg_attrdef d on d.adrelid = a.attrelid and d.adnum = a.attnum
     where a.attrelid = $1::regclass and a.attnum > 0 and not a.attisdropped and a.attidentity = '' and a.attgenerated = ''
       and (not a.attnotnull or d.oid is not null)
     order by a.attnum`,
    [table],
  );
  return rows;
}
