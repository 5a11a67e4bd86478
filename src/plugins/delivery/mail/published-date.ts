import { catalogItemPath, catalogPageUrl, courseUrl, toSlug } from '../../../core/catalog-urls.ts';
import { applyPercentage, toMinorUnits, type Minor } from '../../../core/money.ts';
import { safeLink } from '../../../core/safe-link.ts';
import type { Settings } from '../../../core/settings.ts';
import { execute, type Queryable } from '../../../database/statements.ts';
import type { MailData } from './mail-data.ts';

type Row = {
  courseId: number;
  courseSlug: string;
  category: string | null;
  catalog: { slug: string; host: string | null } | null;
  registrationUrl: string | null;
  price: string | null;
  vatPercentage: string | null;
  currency: string | null;
};

/** The main product of the date's course, and where the date is shown. */
const findPublishedDate = {
  name: 'find_published_date',
  text: `select c.id as "courseId", c.slug as "courseSlug", category.slug as category,
      case when s.is_enabled then json_build_object('slug', s.slug, 'host', s.host) end as catalog,
      coalesce(nullif(d.external_booking_url, ''), c.external_booking_url) as "registrationUrl",
      p.price::text, p.vat_percentage::text as "vatPercentage", p.currency
    from course_dates d
      join courses c on c.provider_id = $1 and c.id = d.course_id
      left join catalog_settings s on s.provider_id = $1
      left join lateral (select * from products p where p.provider_id = $1 and p.course_id = c.id and p.is_main_product
        and p.archived_at is null order by p.id limit 1) p on true
      left join lateral (select k.slug from course_categories l join categories k on k.id = l.category_id
        where l.provider_id = $1 and l.course_id = c.id order by k.id limit 1) category on true
    where d.provider_id = $1 and d.id = $2`,
};

/** The price of a date with VAT, and the page to book it; null where there is none. */
export type PublishedDate = { price: { value: Minor; vat: Minor; currency: string } | null; href: string | null };

export async function loadPublishedDate(
  on: Queryable,
  settings: Settings,
  { providerId, courseDateId, title }: MailData,
): Promise<PublishedDate> {
  const [found] = await execute<Row>(on, findPublishedDate, [providerId, courseDateId]);
  return { price: toPrice(found!), href: toHref(found!, settings, { id: courseDateId!, title }) };
}

function toPrice({ price, vatPercentage, currency }: Row) {
  if (price === null) return null;
  const value = toMinorUnits(price);
  const vat = applyPercentage(value, vatPercentage!);
  return { value: value + vat, vat, currency: currency! };
}

/** The page of the date in the school's catalog, else where it is booked, else its course in the catalog of CATALOG_URL. */
function toHref(row: Row, settings: Settings, { id, title }: { id: number; title: string }) {
  const { catalog, registrationUrl, courseId, courseSlug, category } = row;
  if (catalog) return `${catalogPageUrl(settings, catalog)}${catalogItemPath('dates', toSlug(title), id)}`;
  const course = { id: courseId, slug: courseSlug, category: category ?? undefined, isPublic: true };
  return safeLink(registrationUrl) ?? courseUrl(settings, null, course);
}
