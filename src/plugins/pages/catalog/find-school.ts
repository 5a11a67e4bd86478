import { LRUCache } from 'lru-cache';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Language } from '../../../core/reference/language.ts';
import { json, statement, typedOrNull, type RowOf } from '../../../database/statement.ts';
import type { Queryable } from '../../../database/statements.ts';
import type { CatalogSettingsRow } from '../../../domains/school/catalog-settings/schema.ts';

const addressSql = (kind: 'visit' | 'post') =>
  `nullif(concat_ws(', ', nullif(p.${kind}_address, ''), nullif(btrim(p.${kind}_zip || ' ' || p.${kind}_city), '')), '')`;

// Text: each request of a catalog waits for it.
const findByName = statement(
  'find_catalog',
  {
    takes: { name: 'text' },
    returns: {
      providerId: 'int',
      tenantQueueKey: 'int',
      uidHost: 'text?',
      slug: 'text',
      host: 'text?',
      theme: json<CatalogSettingsRow['theme']>(),
      fields: json<CatalogSettingsRow['fields']>(),
      isIndexed: 'bool',
      ...({ termsUrl: 'text?', privacyUrl: 'text?', withdrawalText: 'text?' } as const),
      ...({ title: 'text', email: 'text', phone: 'text', webAddress: 'text', tagline: 'text' } as const),
      description: 'text',
      orgNr: 'text',
      /** Where visitors go, else where letters go. */
      address: 'text',
      /** Language of pages for those who ask for none of the languages; null is the service's. */
      language: typedOrNull<Language>('text'),
      /** The quarter of an hour of the database's clock. */
      quarter: 'text',
      version: 'text',
      ...({ catalog: 'text', dates: 'text', people: 'text', money: 'text', school: 'text', shared: 'text' } as const),
    },
    acrossSchools: 'the name of a catalog finds its school',
  },
  `select n.provider_id as "providerId", coalesce(p.root_id, p.id) as "tenantQueueKey", v.uid_host as "uidHost", c.slug, c.host, c.theme,
      c.fields, c.is_indexed as "isIndexed", c.terms_url as "termsUrl", c.privacy_url as "privacyUrl",
      c.withdrawal_text as "withdrawalText", p.title, coalesce(nullif(p.email_booking, ''), p.email) as email, p.phone,
      p.web_address as "webAddress", p.text_tagline as tagline, p.text_description as description, p.org_nr as "orgNr",
      coalesce(${addressSql('visit')}, ${addressSql('post')}, '') as address,
      (select b.language from booking_settings b where b.provider_id = n.provider_id) as language,
      floor(extract(epoch from now()) / 900)::text as quarter, s.changed_at::text as version,
      s.catalog_changed_at::text as catalog, s.dates_changed_at::text as dates, s.people_changed_at::text as people,
      s.money_changed_at::text as money, s.school_changed_at::text as school,
      concat_ws(' ', v.changed_at, v.xmin, pg_postmaster_start_time()) as shared
    from catalog_names n
      join catalog_settings c on c.provider_id = n.provider_id and c.is_enabled
      join providers p on p.id = n.provider_id and p.is_active and p.closed_at is null
      join provider_state s on s.provider_id = n.provider_id
      cross join service_state v
    where n.name = :name`,
);
/** A school whose catalog is on, with its settings and the versions of its data. */
export type CatalogSchool = RowOf<typeof findByName>;

/** Looks the school up for each request, so that no page is stale; requests of one turn share a statement. */
export function createSchoolLookup(on: Queryable) {
  const inFlight = new Map<string, Promise<CatalogSchool | undefined>>();
  const known = new LRUCache<string, true>({ max: 10_000 });

  async function query(name: string) {
    await nextTurn();
    inFlight.delete(name);
    const [found] = await findByName(on, { name });
    if (found) known.set(name, true);
    else known.delete(name);
    return found;
  }

  return {
    /** `name`: a slug, a former one too, or a host name; undefined unless its catalog is on. */
    find(name: string): Promise<CatalogSchool | undefined> {
      const key = name.toLowerCase();
      const pending = inFlight.get(key) ?? query(key);
      inFlight.set(key, pending);
      return pending;
    },
    /** True if the name was a catalog's at its last look-up. */
    isKnown: (name: string) => known.has(name.toLowerCase()),
  };
}
export type SchoolLookup = ReturnType<typeof createSchoolLookup>;
