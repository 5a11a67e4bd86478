import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Area } from '../../src/database/areas.ts';

const events = ['insert', 'update', 'delete'] as const;

type TableFacts = {
  /** The area that its writes declare, unless no list reads it. */
  area?: Area;
  /** The writes that need the provider's lock: by default all of a table with an area, else none. */
  locked?: readonly (typeof events)[number][];
  /** True without a provider, or if it is read before the provider is known. */
  shared?: true;
  /** The kind of lines in import files that writes it, unless one has its name or it is a part of one. */
  kind?: string;
  /** Why it is not exported. */
  kept?: string;
} & ({ area: Area } | { shared: true } | { kept: string });

/** The area, owner and export of each table; a new table needs an entry. */
export const tables: Record<string, TableFacts> = {
  courses: { area: 'catalog' },
  course_translations: { area: 'catalog' },
  products: { area: 'catalog' },
  course_categories: { area: 'catalog' },
  tags: { area: 'catalog', kind: 'tag' },
  course_tags: { area: 'catalog' },
  labels: { area: 'catalog', kind: 'label' },
  course_labels: { area: 'catalog' },
  catalog_addresses: { area: 'catalog', shared: true, kept: 'decided by the addresses of other courses' },
  catalog_names: { area: 'catalog', shared: true, kept: 'decided by the names of other schools' },
  locations: { area: 'catalog' },
  instructors: { area: 'catalog' },
  course_dates: { area: 'dates' },
  course_date_instructors: { area: 'dates' },
  gatherings: { area: 'dates' },
  gathering_instructors: { area: 'dates' },
  bundles: { area: 'dates' },
  course_users: { area: 'people' },
  participants: { area: 'people' },
  attendances: { area: 'people' },
  attendance_marks: { area: 'people' },
  order_line_participants: { area: 'people' },
  customers: { area: 'people' },
  // The links that confirm interests change them without the lock.
  course_interests: { area: 'people', locked: ['insert'], kept: 'confirmed by links of one database' },
  admin_memberships: { area: 'people', kind: 'admin_user' },
  admin_membership_roles: { area: 'people', kind: 'admin_user' },
  roles: { area: 'people', kind: 'role' },
  orders: { area: 'money' },
  order_lines: { area: 'money' },
  bookings: { area: 'money' },
  vouchers: { area: 'money' },
  voucher_redemptions: { area: 'money' },
  payments: { area: 'money' },
  campaigns: { area: 'money' },
  campaign_courses: { area: 'money' },
  campaign_customers: { area: 'money' },
  campaign_tags: { area: 'money' },
  // Inserted before its `provider_state` can be, in the same transaction.
  providers: { area: 'school', locked: ['update'], shared: true, kind: 'school' },
  partner_connections: { area: 'school', shared: true, kind: 'partner' },
  // Their states change without the lock.
  webhooks: { area: 'school', locked: ['insert'], kept: 'a copy must not send to the receivers of the original' },
  booking_settings: { area: 'school', kind: 'booking_settings' },
  catalog_settings: { area: 'school', kind: 'catalog_settings' },

  // No list reads these.
  // The last use of a key, the states of mails and retention need no lock.
  api_keys: { locked: ['insert'], shared: true, kept: 'a copy has keys of its own' },
  outbox: { locked: ['insert'], kept: 'mails that are sent once' },
  audit_entries: { locked: ['insert'], kept: 'the history of one database' },
  // Housekeeping deletes these.
  idempotency_records: { locked: ['insert', 'update'], kept: 'ends after a day' },
  import_refs: { locked: ['insert', 'update'], kept: 'written by the import itself' },
  catalog_posts: { locked: ['insert', 'update'], kept: 'ends after a day' },
  provider_limits: { locked: events, kept: 'set by the operator of the service' },
  merged_users: { locked: events, kept: 'of the backups of one database' },
  cancellations: { locked: events, kept: 'a copy has canceled dates, and has nobody to tell' },
  date_notices: { locked: events, kept: 'mails that are sent once' },

  // Written without the lock: the lock itself, credentials, links, states of deliveries, counted requests, erasures.
  provider_state: { kept: 'the clocks of one database' },
  tokens: { kept: 'links that were mailed for one database' },
  booking_links: { kept: 'links that were mailed for one database' },
  calendar_feeds: { kept: 'links of one database' },
  sessions: { kept: 'people sign in again' },
  sign_on_failures: { kept: 'ends after minutes' },
  api_key_uses: { kept: 'a copy has keys of its own' },
  events: { kept: 'the changes of one database: an import leaves its own' },
  webhook_deliveries: { kept: 'the history of one database' },
  webhook_wakeups: { kept: 'ends after seconds' },
  webhook_tests: { kept: 'ends after seconds' },
  staged_lines: { kept: 'written by the import itself' },
  provider_usage: { kept: 'the history of one database' },
  erasures: { kept: 'of the backups of one database' },
  refused_addresses: { kept: 'answers of the mail server of one database' },

  // Without a provider.
  service_state: { shared: true, kept: 'the state of one database' },
  categories: { shared: true, kind: 'category' },
  places: { shared: true, kind: 'place' },
  admin_users: { shared: true, kind: 'admin_user' },
  backup_runs: { shared: true, kept: 'the history of one database' },
};

export const sharedTables = Object.keys(tables).filter((name) => tables[name]!.shared);

const functions = () => readFileSync(join(import.meta.dirname, 'refuse-unlocked.sql'), 'utf8');

const triggers = Object.entries(tables).flatMap(([name, { area, locked = area ? events : [] }]) =>
  locked.map(
    (event) => `create trigger refuse_unlocked_${event} after ${event} on ${name}
      referencing ${event === 'delete' ? 'old' : 'new'} table as changed
      for each statement execute function refuse_unlocked(${area ? `'${area}'` : ''});`,
  ),
);

/** The statements that let a test database refuse writes without the lock or the area; they fail for an unknown table. */
export const guardStatements = () => `${functions()}
  do $$
  declare
    unknown text := (select string_agg(table_name, ', ') from information_schema.columns
      where table_schema = 'public' and column_name = 'provider_id' and table_name <> all ('{${Object.keys(tables).join()}}'));
  begin
    if unknown is not null then
      raise exception 'test/support/tables.ts has no entry of the table %', unknown;
    end if;
  end $$;
  ${triggers.join('\n')}`;
