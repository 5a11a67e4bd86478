import { Type } from '@sinclair/typebox';
import { eq } from 'drizzle-orm';
import type { Ctx } from '../../../database/context.ts';
import { itemAt, Problem } from '../../../core/errors.ts';
import { Id, Note, OneOf, Title } from '../../../core/schema/types.ts';
import { labels, tags } from '../../../database/tables/catalog.ts';
import { columnName, matchFolded } from '../../../database/tables/columns.ts';
import { adminMemberships, roles } from '../../../database/tables/people.ts';
import { providers } from '../../../database/tables/providers.ts';
import { tenantWhere } from '../../../lists/tenant-scope.ts';
import { AdminUserBody } from '../../../domains/school/admin-users/fields.ts';
import { detachAdminUser, saveAdminUser, toMembership } from '../../../domains/school/admin-users/service.ts';
import { BookingSettingsBody } from '../../../domains/school/booking-settings/body-schema.ts';
import { updateBookingSettings } from '../../../domains/school/booking-settings/service.ts';
import { CatalogSettingsBody } from '../../../domains/school/catalog-settings/body-schema.ts';
import { updateCatalogSettings } from '../../../domains/school/catalog-settings/service.ts';
import { approvePartner, requestPartner, revokePartner } from '../../../domains/school/schools/partner-service.ts';
import { SchoolBody } from '../../../domains/school/schools/fields.ts';
import { updateSchool } from '../../../domains/school/schools/service.ts';
import { TagBody } from '../../../domains/courses/tags/fields.ts';
import { resolveTags } from '../../../domains/courses/tags/service.ts';
import { RefList, storedFields, type Fields, type SingleRecordType } from '../record-type.ts';

const { Optional } = Type;

/** Exports the rows of a query whose `$1` is the provider, as JSON objects. */
const exportRows =
  (query: string): SingleRecordType['export'] =>
  async ({ pool }, providerId) => {
    const { rows } = await pool.query<{ row: Fields }>(`select to_jsonb(t) as row from (${query}) t`, [providerId]);
    return rows.map(({ row }) => row);
  };

const schoolColumns = Object.entries(storedFields(SchoolBody.properties))
  .map(([name, { column }]) => `${columnName(column)} as ${name}`)
  .join(', ');

/** The provider's own record. */
export const school: SingleRecordType = {
  kind: 'school',
  schema: Type.Object(SchoolBody.properties),
  create: (_, ctx, fields) => updateSchool(ctx, fields as SchoolBody),
  export: exportRows(`select id::text as ref, ${schoolColumns} from providers where id = $1 and email_admin <> ''`),
};

/** The provider's rules for bookings and mails, unless they are the defaults. */
export const bookingSettings: SingleRecordType = {
  kind: 'booking_settings',
  schema: Type.Object(BookingSettingsBody.properties),
  async create(_, ctx, fields) {
    await updateBookingSettings(ctx, fields);
    return ctx.providerId;
  },
  export: exportRows(`select provider_id::text as ref, self_cancellation, late_cancellation, language, mails, texts
       from booking_settings where provider_id = $1`),
};

/** The provider's public catalog. Its slug and host name belong to the server, and are not moved. */
export const catalogSettings: SingleRecordType = {
  kind: 'catalog_settings',
  schema: Type.Object(Type.Omit(CatalogSettingsBody, ['slug']).properties),
  async create(_, ctx, fields) {
    await updateCatalogSettings(ctx, fields);
    return ctx.providerId;
  },
  export:
    exportRows(`select provider_id::text as ref, is_enabled as enabled, theme, is_indexed as index, fields, terms_url,
         privacy_url, withdrawal_text
       from catalog_settings where provider_id = $1`),
};

/** A line finds the tag or label of its title, or creates it. */
const titleRecordType = (kind: 'tag' | 'label', table: typeof tags | typeof labels): SingleRecordType => ({
  kind,
  schema: Type.Object({ title: TagBody.properties.title }),
  create: (_, ctx, { title }) =>
    ctx.write(['catalog'], async (w) => itemAt(await resolveTags(w, table, [{ title: title as string }]))),
  export: exportRows(`select id::text as ref, title from ${kind}s where provider_id = $1 order by ${kind}s.id`),
});
export const tag = titleRecordType('tag', tags);
export const label = titleRecordType('label', labels);

/** A line finds the role of its title, or creates it. */
export const role: SingleRecordType = {
  kind: 'role',
  schema: Type.Object({ title: Title(), description: Optional(Note()) }),
  create: (_, ctx, fields) => findOrCreateRole(ctx, fields as { title: string; description?: string }),
  export: exportRows('select id::text as ref, title, description from roles where provider_id = $1 order by roles.id'),
};

const findOrCreateRole = (ctx: Ctx, { title, description }: { title: string; description?: string }) =>
  ctx.write(['people'], async ({ tx, now }) => {
    const { providerId } = ctx;
    const match = matchFolded(roles.title, title);
    const [found] = await tx
      .select({ id: roles.id })
      .from(roles)
      .where(tenantWhere(ctx, roles, match.isEqual))
      .orderBy(match.order, roles.id)
      .limit(1);
    if (found) return found.id;
    const values = { providerId, title, description, createdAt: now, updatedAt: now };
    return itemAt(await tx.insert(roles).values(values).returning({ id: roles.id })).id;
  });

/** A line adds an existing account, by e-mail address, to the provider, or creates one. Sends no invitation. */
export const adminUser: SingleRecordType = {
  kind: 'admin_user',
  schema: Type.Object({
    ...Type.Omit(AdminUserBody, ['role_ids', 'send_invite']).properties,
    firstname: Title(),
    lastname: Title(),
    role_ids: Optional(RefList),
    detached: Optional(Type.Boolean()),
  }),
  references: { role_ids: 'role' },
  async verify(_, { role_ids = [], detached }) {
    const hasRoles = (role_ids as string[]).length > 0;
    if (!hasRoles && detached !== true) throw Problem.invalidFields({ missing: ['role_ids'] });
  },
  async create(_, ctx, fields) {
    const { role_ids = [] } = fields as Partial<AdminUserBody>;
    const { user } = await saveAdminUser(ctx, { ...(fields as AdminUserBody), role_ids, send_invite: false });
    await ctx.write(['people'], ({ tx, now }) =>
      tx
        .update(adminMemberships)
        .set({ ...toMembership(fields), updatedAt: now })
        .where(tenantWhere(ctx, adminMemberships, eq(adminMemberships.adminUserId, user.id))),
    );
    if (fields['detached'] === true) await detachAdminUser(ctx, user.id);
    return user.id;
  },
  export:
    exportRows(`select u.id::text as ref, u.email, m.firstname, m.lastname, m.position, m.phone_prefix, m.phone, m.booking_email,
         array(select r.role_id::text from admin_membership_roles r
           where r.provider_id = m.provider_id and r.admin_user_id = m.admin_user_id order by r.role_id) as role_ids,
         case when m.detached_at is not null then true end as detached
       from admin_memberships m join admin_users u on u.id = m.admin_user_id where m.provider_id = $1 order by u.id`),
};

const statusActions = { requested: requestPartner, approved: approvePartner, revoked: revokePartner };

/** A connection to another provider, by its id: once approved, the provider lists its public items. */
export const partner: SingleRecordType = {
  kind: 'partner',
  schema: Type.Object({ partner_id: Id, status: OneOf(['requested', 'approved', 'revoked']) }),
  async verify(database, { partner_id: partnerId }) {
    if ((await database.db.$count(providers, eq(providers.id, partnerId as number))) === 0)
      throw new Problem('invalid', `There is no provider ${partnerId as number}`);
  },
  async create(database, { providerId }, fields) {
    const { partner_id: partnerId, status } = fields as { partner_id: number; status: keyof typeof statusActions };
    if (status === 'revoked') await requestPartner(database, providerId, partnerId);
    await statusActions[status](database, providerId, partnerId);
    return partnerId;
  },
  export: exportRows(
    `select partner_id::text as ref, partner_id, status from partner_connections where provider_id = $1 order by partner_id`,
  ),
};
