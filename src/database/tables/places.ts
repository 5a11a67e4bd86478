import { sql } from 'drizzle-orm';
import * as pg from 'drizzle-orm/pg-core';
import * as c from './columns.ts';
import { adminMemberships, roles } from './people.ts';
import { providers } from './providers.ts';

/** Counties, municipalities and other places: one tree for all providers, seeded with Norway's. */
export const places = pg.pgTable(
  'places',
  {
    id: pg.bigint({ mode: 'number' }).generatedAlwaysAsIdentity().primaryKey(),
    parentId: c.reference(),
    title: c.operational(pg.text()).notNull(),
    country: c.operational(pg.text()).notNull(),
    ...c.timestamps(),
  },
  (t) => [
    pg.foreignKey({ name: 'places_parent_fk', columns: [t.parentId], foreignColumns: [t.id] }),
    pg.uniqueIndex('places_title').on(t.country, sql`coalesce(${t.parentId}, 0)`, c.caseFolded(t.title)),
    pg.index('places_parent').on(t.parentId),
    pg.check('places_title_given', sql`${t.title} <> ''`),
    pg.check('places_country', sql`${t.country} ~ '^[A-Z]{2}$'`),
  ],
);

/** Instructors; may also be admin users. */
export const instructors = c.tenantTable(
  'instructors',
  {
    adminUserId: c.reference(),
    firstname: c.personal(pg.text()).notNull(),
    lastname: c.personal(pg.text()).notNull(),
    phonePrefix: c.personal(pg.text()).notNull().default(''),
    phone: c.personal(pg.text()).notNull().default(''),
    email: c.personal(pg.text()).notNull().default(''),
    position: c.personal(pg.text()).notNull().default(''),
    company: c.personal(pg.text()).notNull().default(''),
    description: c.personal(pg.text()).notNull().default(''),
    showOnWeb: pg.boolean().notNull().default(false),
    ...c.timestamps(),
    archivedAt: c.instant(),
  },
  (t) => [
    pg.foreignKey({ name: 'instructors_provider_fk', columns: [t.providerId], foreignColumns: [providers.id] }),
    c.tenantKey('instructors_admin_user_fk', t.adminUserId, adminMemberships.adminUserId),
    pg.index('instructors_created').on(t.providerId, t.createdAt, t.id),
    pg.index('instructors_updated').on(t.providerId, t.updatedAt, t.id),
  ],
);

/** A provider's venues, with default capacities for new course dates. */
export const locations = c.tenantTable(
  'locations',
  {
    placeId: c.reference(),
    instructorId: c.reference(),
    title: c.operational(pg.text()),
    customTitle: c.operational(pg.text()),
    address: c.operational(pg.text()),
    address2: c.operational(pg.text('address2')),
    address3: c.operational(pg.text('address3')),
    zipcode: c.operational(pg.text()),
    city: c.operational(pg.text()),
    state: c.operational(pg.text()).notNull().default(''),
    county: c.operational(pg.text()).notNull().default(''),
    country: c.operational(pg.text()).notNull().default('NO'),
    lat: pg.doublePrecision().notNull().default(0),
    lng: pg.doublePrecision().notNull().default(0),
    timezone: c.operational(pg.text()),
    longText: c.operational(pg.text()),
    shortText: c.operational(pg.text()),
    shortText2: c.operational(pg.text('short_text_2')),
    emailBooking: c.operational(pg.text()),
    emailMoreinfo: c.operational(pg.text()),
    cancellationDays: pg.integer().notNull().default(0),
    capacityBudget: pg.integer().notNull().default(0),
    capacityMax: pg.integer().notNull().default(0),
    capacityMin: pg.integer().notNull().default(0),
    capacityOverbook: pg.integer().notNull().default(0),
    capacityWait: pg.integer().notNull().default(0),
    notificationDays: pg.integer().notNull().default(0),
    /** Notices go to the admin users of this role alone. Set by imports; null: to the e-mail address for bookings. */
    notificationRoleId: c.reference(),
    isArchived: pg.boolean().notNull().default(false),
    isDefault: pg.boolean().notNull().default(false),
    isNotificationEnabled: pg.boolean().notNull().default(false),
    isVirtual: pg.boolean().notNull().default(false),
    ...c.timestamps(),
  },
  (t) => [
    pg.foreignKey({ name: 'locations_provider_fk', columns: [t.providerId], foreignColumns: [providers.id] }),
    pg.foreignKey({ name: 'locations_place_fk', columns: [t.placeId], foreignColumns: [places.id] }),
    c.tenantKey('locations_instructor_fk', t.instructorId, instructors.id),
    c.tenantKey('locations_notification_role_fk', t.notificationRoleId, roles.id),
    pg.index('locations_created').on(t.providerId, t.createdAt, t.id),
    pg.index('locations_updated').on(t.providerId, t.updatedAt, t.id),
    pg.check('locations_country', sql`${t.country} ~ '^[A-Z]{2}$'`),
    pg.check(
      'locations_capacities',
      sql`least(${t.capacityBudget}, ${t.capacityMax}, ${t.capacityMin}, ${t.capacityOverbook}, ${t.capacityWait}) >= 0`,
    ),
  ],
);
