import { sql } from 'drizzle-orm';
import { bigint, check, foreignKey, index, pgTable, primaryKey, text, uniqueIndex } from 'drizzle-orm/pg-core';
import { caseFolded, instant, operational, personal, reference, tenantKey, timestamps } from './columns.ts';
import { providers } from './providers.ts';

/** A staff account: one per e-mail address, possibly with several providers. */
export const adminUsers = pgTable(
  'admin_users',
  {
    id: bigint({ mode: 'number' }).generatedAlwaysAsIdentity().primaryKey(),
    email: personal(text()).notNull(),
    /** The names as first given, which later memberships start with. */
    firstname: personal(text()),
    lastname: personal(text()),
    passwordHash: personal(text()),
    createdAt: instant().notNull(),
  },
  (t) => [uniqueIndex('admin_users_email').on(caseFolded(t.email))],
);

/** An admin user's membership of one provider, with its own name and phone: providers do not see each other's. */
export const adminMemberships = pgTable(
  'admin_memberships',
  {
    providerId: reference().notNull(),
    adminUserId: reference().notNull(),
    /** Copied from the person when the membership is created. */
    firstname: personal(text()).notNull().default(''),
    lastname: personal(text()).notNull().default(''),
    position: personal(text()).notNull().default(''),
    phonePrefix: personal(text()).notNull().default(''),
    phone: personal(text()).notNull().default(''),
    bookingEmail: personal(text()).notNull().default(''),
    /** Set for a person that left the provider; the row stays for the items that name it. */
    detachedAt: instant(),
    ...timestamps(),
  },
  (t) => [
    primaryKey({ name: 'admin_memberships_pk', columns: [t.providerId, t.adminUserId] }),
    foreignKey({ name: 'admin_memberships_provider_fk', columns: [t.providerId], foreignColumns: [providers.id] }),
    foreignKey({ name: 'admin_memberships_admin_user_fk', columns: [t.adminUserId], foreignColumns: [adminUsers.id] }),
    index('admin_memberships_admin_user').on(t.adminUserId),
  ],
);

/** The role Administrator, which is created with the provider. */
export const administratorRoleId = 1;

/** Custom roles start at 100. */
export const roles = pgTable(
  'roles',
  {
    providerId: reference().notNull(),
    id: bigint({ mode: 'number' }).notNull().generatedByDefaultAsIdentity({ startWith: 100 }),
    title: operational(text()).notNull(),
    description: operational(text()).notNull().default(''),
    ...timestamps(),
  },
  (t) => [
    primaryKey({ name: 'roles_pk', columns: [t.providerId, t.id] }),
    foreignKey({ name: 'roles_provider_fk', columns: [t.providerId], foreignColumns: [providers.id] }),
    uniqueIndex('roles_title').on(t.providerId, caseFolded(t.title)),
    check('roles_title_given', sql`${t.title} <> ''`),
  ],
);

export const adminMembershipRoles = pgTable(
  'admin_membership_roles',
  { providerId: reference().notNull(), adminUserId: reference().notNull(), roleId: reference().notNull() },
  (t) => [
    primaryKey({ name: 'admin_membership_roles_pk', columns: [t.providerId, t.adminUserId, t.roleId] }),
    tenantKey('admin_membership_roles_membership_fk', t.adminUserId, adminMemberships.adminUserId),
    tenantKey('admin_membership_roles_role_fk', t.roleId, roles.id),
  ],
);
