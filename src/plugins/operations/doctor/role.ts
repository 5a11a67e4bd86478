import { error, ok, queryOne, warning, type Result, type SystemCheck } from '../../../interfaces/plugin/checks.ts';

type Role = { name: string; isSuperuser: boolean; mayCreate: boolean };
type Rights = { name: string; isOwned: boolean; missing: string[] };

export const roleCheck: SystemCheck = {
  check: 'role',
  async run({ pool, config }) {
    const role = await queryOne<Role>(
      pool,
      `select rolname as name, rolsuper as "isSuperuser",
          has_schema_privilege('public', 'CREATE') and has_schema_privilege('drizzle', 'CREATE') as "mayCreate"
        from pg_roles where rolname = current_user`,
    );
    // Tables of others in the schema have other owners.
    const { rows } = await pool.query<Rights>(`
      select c.relname as name, pg_has_role(c.relowner, 'USAGE') as "isOwned",
        array(select privilege from unnest(case c.relkind when 'S' then array['USAGE']
            else array['SELECT', 'INSERT', 'UPDATE', 'DELETE'] end) privilege
          where not case c.relkind when 'S' then has_sequence_privilege(c.oid, privilege)
            else has_table_privilege(c.oid, privilege) end) as missing
      from pg_class c
      where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'S')
        and c.relowner = (select relowner from pg_class where oid = 'public.providers'::regclass)
      order by c.relname`);
    return judgeRole(role, rows, {
      isEmbedded: config.DATABASE_URL === undefined,
      mustMigrate: config.MIGRATE_ON_START,
    });
  },
};

export function judgeRole(
  { name, isSuperuser, mayCreate }: Role,
  rights: Rights[],
  { isEmbedded, mustMigrate }: { isEmbedded: boolean; mustMigrate: boolean },
): Result[] {
  const missing = rights.flatMap(({ name: object, missing: names }) =>
    names.length > 0 ? [`${names.join(', ').toLowerCase()} on ${object}`] : [],
  );
  if (missing.length > 0) return [error(`The role ${name} lacks ${summarize(missing)}`)];
  // The embedded database has no other role.
  if (isSuperuser)
    return isEmbedded
      ? [ok(`${name}, of the embedded database`)]
      : [warning(`The role ${name} is a superuser: one that owns the database is enough`)];
  const mayMigrate = mayCreate && rights.every(({ isOwned }) => isOwned);
  if (mustMigrate && !mayMigrate)
    return [
      warning(
        `The role ${name} may not change tables: set MIGRATE_ON_START=false, and run \`migrate\` with the owner's role`,
      ),
    ];
  return [ok(`${name} has the rights that it needs, and is no superuser`)];
}

const summarize = (items: string[]) =>
  items.length <= 3 ? items.join('; ') : `${items.slice(0, 3).join('; ')}; and ${items.length - 3} more`;
