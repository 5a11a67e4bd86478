import { sql } from 'drizzle-orm';
import {
  bigint,
  boolean,
  check,
  doublePrecision,
  foreignKey,
  index,
  integer,
  pgTable,
  text,
  uniqueIndex,
} from 'drizzle-orm/pg-core';
import {
  caseFolded,
  instant,
  operational,
  personal,
  reference,
  tenantKey,
  tenantTable,
  timestamps,
} from './columns.ts';
import { adminMemberships, roles } from './people.ts';
import { providers } from './providers.ts';

/** Counties, municipalities and other places: one tree for all providers, seeded with Norway's. */
export const places = pgTable(
  'places',
  {
    id: bigint({ mode: 'number' }).generatedAlwaysAsIdentity().primaryKey(),
    parentId: reference(),
    title: operational(text()).notNull(),
    country: operational(text()).notNull(),
    ...timestamps(),
  },
  (t) => [
    foreignKey({ name: 'places_parent_fk', columns: [t.parentId], foreignColumns: [t.id] }),
    uniqueIndex('places_title').on(t.country, sql`coalesce(${t.parentId}, 0)`, caseFolded(t.title)),
    index('places_parent').on(t.parentId),
    check('places_title_given', sql`${t.title} <> ''`),
    check('places_country', sql`${t.country} ~ '^[A-Z]{2}$'`),
  ],
);

/** Instructors; may also be admin users. */
export const instructors = tenantTable(
  'instructors',
  {
    adminUserId: reference(),
    firstname: personal(text()).notNull(),
    lastname: personal(text()).notNull(),
    phonePrefix: personal(text()).notNull().default(''),
    phone: personal(text()).notNull().default(''),
    email: personal(text()).notNull().default(''),
    position: personal(text()).notNull().default(''),
    company: personal(text()).notNull().default(''),
    description: personal(text()).notNull().default(''),
    showOnWeb: boolean().notNull().default(false),
    ...timestamps(),
    archivedAt: instant(),
  },
  (t) => [
    foreignKey({ name: 'instructors_provider_fk', columns: [t.providerId], foreignColumns: [providers.id] }),
    tenantKey('instructors_admin_user_fk', t.adminUserId, adminMemberships.adminUserId),
    index('instructors_created').on(t.providerId, t.createdAt, t.id),
    index('instructors_updated').on(t.providerId, t.updatedAt, t.id),
  ],
);

/** A provider's venues, with default capacities for new course dates. */
export const locations = tenantTable(
  'locations',
  {
    placeId: reference(),
    instructorId: reference(),
    title: operational(text()),
    customTitle: operational(text()),
    address: operational(text()),
    address2: operational(text('address2')),
    address3: operational(text('address3')),
    zipcode: operational(text()),
    city: operational(text()),
    state: operational(text()).notNull().default(''),
    county: operational(text()).notNull().default(''),
    country: operational(text()).notNull().default('NO'),
    lat: doublePrecision().notNull().default(0),
    lng: doublePrecision().notNull().default(0),
    timezone: operational(text()),
    longText: operational(text()),
    shortText: operational(text()),
    shortText2: operational(text('short_text_2')),
    emailBooking: operational(text()),
    emailMoreinfo: operational(text()),
    cancellationDays: integer().notNull().default(0),
    capacityBudget: integer().notNull().default(0),
    capacityMax: integer().notNull().default(0),
    capacityMin: integer().notNull().default(0),
    capacityOverbook: integer().notNull().default(0),
    capacityWait: integer().notNull().default(0),
    notificationDays: integer().notNull().default(0),
    /** Notices go to the admin users of this role alone. Set by imports; null: to the e-mail address for bookings. */
    notificationRoleId: reference(),
    isArchived: boolean().notNull().default(false),
    isDefault: boolean().notNull().default(false),
    isNotificationEnabled: boolean().notNull().default(false),
    isVirtual: boolean().notNull().default(false),
    ...timestamps(),
  },
  (t) => [
    foreignKey({ name: 'locations_provider_fk', columns: [t.providerId], foreignColumns: [providers.id] }),
    foreignKey({ name: 'locations_place_fk', columns: [t.placeId], foreignColumns: [places.id] }),
    tenantKey('locations_instructor_fk', t.instructorId, instructors.id),
    tenantKey('locations_notification_role_fk', t.notificationRoleId, roles.id),
    index('locations_created').on(t.providerId, t.createdAt, t.id),
    index('locations_updated').on(t.providerId, t.updatedAt, t.id),
    check('locations_country', sql`${t.country} ~ '^[A-Z]{2}$'`),
    check(
      'locations_capacities',
      sql`least(${t.capacityBudget}, ${t.capacityMax}, ${t.capacityMin}, ${t.capacityOverbook}, ${t.capacityWait}) >= 0`,
    ),
  ],
);
