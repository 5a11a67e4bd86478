import { eq, isNull, sql } from 'drizzle-orm';
import { catalogItemPath, catalogPageUrl, courseUrl, toSlug } from '../../../core/catalog-urls.ts';
import { applyPercentage, toMinorUnits } from '../../../core/money.ts';
import { safeLink } from '../../../core/safe-link.ts';
import type { Settings } from '../../../core/settings.ts';
import type { Reader } from '../../../database/client.ts';
import { courseDates } from '../../../database/tables/coursedates.ts';
import { courses, products } from '../../../database/tables/courses.ts';
import { courseInterests } from '../../../database/tables/interests.ts';
import { catalogSettings } from '../../../database/tables/providers.ts';
import { fetchCategories } from '../../../domains/courses/courses/loaders.ts';
import { isBookableSql } from '../../../domains/courses/interests/loaders.ts';
import { createInterestLink } from '../../../domains/courses/interests/service.ts';
import { linkUrl } from '../../../domains/messages/links/schema.ts';
import { sameTenant, tenantWhere } from '../../../lists/tenant-scope.ts';
import { composePrice } from './amounts.ts';
import { composeFacts, loadDate, type MailDate } from './dates.ts';
import { composeLetter, letterTexts } from './letter.tsx';
import { addressMail, joinLines, type Prepare, type StoredMail } from './mails.ts';

async function loadInterest(db: Reader, { providerId, interestId }: StoredMail) {
  const { id, name, language, confirmedAt } = courseInterests;
  const [found] = await db
    .select({ id, name, language, confirmedAt, title: courses.title, contact: courses.emailBooking })
    .from(courseInterests)
    .innerJoin(courses, sameTenant(courses, courseInterests, eq(courses.id, courseInterests.courseId)))
    .where(tenantWhere({ providerId }, courseInterests, sql`${id} = ${interestId}`));
  return found && joinLines(found);
}

/** Asks a person to confirm an interest by a link. */
export const prepareConfirmation: Prepare = async (sources, stored) => {
  const { unlocked } = sources.database;
  const { providerId, id: mailId } = stored;
  const interest = await loadInterest(unlocked, stored);
  if (!interest) return { outdated: 'its interest was deleted' };
  if (interest.confirmedAt !== null) return { outdated: 'its interest is confirmed in the meantime' };
  const mail = addressMail(stored, { ...interest, firstname: null }, sources.settings);
  return {
    mail,
    async write() {
      const token = await createInterestLink(unlocked, { providerId, interestId: interest.id, mailId });
      if (token === undefined) return { outdated: 'its interest has ended' };
      const { letters, interestLink } = letterTexts[mail.language];
      const opening = letters.interest_confirmation({ school: mail.school, title: interest.title });
      const button = { ...interestLink, href: linkUrl(sources.settings, 'interest', token) };
      return { letter: composeLetter(mail, opening, { button }), token };
    },
  };
};

/** Tells a person who is interested in a course of a date that can be booked. */
export const preparePublishedDate: Prepare = async ({ database: { unlocked }, settings }, stored) => {
  const interest = await loadInterest(unlocked, stored);
  if (!interest || stored.courseDateId === null) return { outdated: 'its interest was deleted' };
  const { providerId, courseDateId } = stored;
  const isBookable = await unlocked.$count(
    courseDates,
    tenantWhere({ providerId }, courseDates, eq(courseDates.id, courseDateId), sql.raw(isBookableSql)),
  );
  if (isBookable === 0) return { outdated: 'its date cannot be booked any more' };
  const date = await loadDate(unlocked, providerId, courseDateId);
  const { language, name, confirmedAt } = interest;
  const firstname = confirmedAt === null ? null : name;
  const mail = addressMail(stored, { language, firstname, contact: date.contact }, settings);
  return {
    mail,
    async write() {
      const { price, href } = await loadPublishedDate(unlocked, settings, providerId, date);
      const { letters, dateLink } = letterTexts[mail.language];
      const opening = letters.date_published({ school: mail.school, title: date.title });
      const facts = composeFacts(date, { language: mail.language, timezone: settings.timezone });
      const letter = composeLetter(mail, opening, {
        facts: [...facts, ...composePrice(mail.language, price)],
        button: href === null ? null : { ...dateLink, href },
      });
      return { letter };
    },
  };
};

/** The price of a date with VAT, and the page to book it; null where there is none. */
async function loadPublishedDate(
  db: Reader,
  settings: Settings,
  providerId: number,
  { courseDateId, title }: MailDate,
) {
  const { isEnabled, slug, host } = catalogSettings;
  const { vatPercentage, currency } = products;
  const [found] = await db
    .select({
      course: { id: courses.id, slug: courses.slug },
      externalUrl: sql<
        string | null
      >`coalesce(nullif(${courseDates.externalBookingUrl}, ''), ${courses.externalBookingUrl})`,
      catalog: { isEnabled, slug, host },
      product: { price: products.price, vatPercentage, currency },
    })
    .from(courseDates)
    .innerJoin(courses, sameTenant(courses, courseDates, eq(courses.id, courseDates.courseId)))
    .leftJoin(catalogSettings, sameTenant(catalogSettings, courseDates))
    .leftJoin(
      products,
      sameTenant(
        products,
        courses,
        eq(products.courseId, courses.id),
        eq(products.isMainProduct, true),
        isNull(products.archivedAt),
      ),
    )
    .where(tenantWhere({ providerId }, courseDates, eq(courseDates.id, courseDateId)));
  if (!found) return { price: null, href: null };
  const { course, externalUrl, catalog } = found;
  const price = found.product && toPrice(found.product);
  // The page of the date in the school's catalog, else where it is booked, else its course in the catalog of CATALOG_URL.
  if (catalog?.isEnabled) {
    const path = catalogItemPath('dates', toSlug(title), courseDateId);
    return { price, href: `${catalogPageUrl(settings, catalog)}${path}` };
  }
  const [category] = await fetchCategories({ db, providerId }, { providerIds: [providerId], ids: [course.id] });
  const page = courseUrl(settings, null, { ...course, category: category?.slug, isPublic: true });
  return { price, href: safeLink(externalUrl) ?? page };
}

function toPrice({ price, vatPercentage, currency }: Record<'price' | 'vatPercentage' | 'currency', string>) {
  const value = toMinorUnits(price);
  const vat = applyPercentage(value, vatPercentage);
  return { value: value + vat, vat, currency };
}
