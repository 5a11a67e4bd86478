import type * as schema from 'schema-dts';
import { locationLines } from '../../../../core/address-format.ts';
import { toDecimal } from '../../../../core/money.ts';
import { withOffset } from '../../../../core/zoned-time.ts';
import { canBook, toBookingEnd, type CatalogDate } from '../dates/model.ts';
import { toSummary } from '../summary.ts';
import type { View } from '../view.ts';

type Leaf<T> = Exclude<T, string>;
type Data =
  | schema.WithContext<Leaf<schema.Course>>
  | schema.WithContext<Leaf<schema.EducationEvent>>
  | schema.WithContext<Leaf<schema.ItemList>>;

/** Structured data for search engines. Browsers run no script of this type. */
export const JsonLd = ({ data }: { data: Data }) => (
  <script
    type="application/ld+json"
    dangerouslySetInnerHTML={{ __html: JSON.stringify(data).replaceAll('<', '\\u003c') }}
  />
);

type Titled = { id: number; title: string };

const context = { '@context': 'https://schema.org' } as const;

/** The courses of a start page, with sanitized texts by the ids of courses. */
export const toCourseList = (view: View, courses: Titled[], texts: Map<number, string>) =>
  ({
    ...context,
    '@type': 'ItemList',
    itemListElement: courses.map((course, n) => ({
      '@type': 'ListItem',
      position: n + 1,
      url: view.urls.course(course),
      item: toCourse(view, course, toSummary([texts.get(course.id) ?? ''])),
    })),
  }) satisfies Data;

/** A course without a text is described by its title and its school. */
export const toCourse = (view: View, { id, title }: Titled, summary: string | undefined) =>
  ({
    '@type': 'Course',
    name: title,
    description: summary ?? `${title} – ${view.school.title}`,
    url: view.urls.course({ id, title }),
    provider: toOrganization(view),
  }) satisfies Leaf<schema.Course>;

export const toCourseData = (view: View, course: Titled, summary: string | undefined) =>
  ({ ...context, ...toCourse(view, course, summary) }) satisfies Data;

const toOrganization = ({ school, urls }: View) =>
  ({ '@type': 'Organization', name: school.title, url: urls.start }) satisfies Leaf<schema.Organization>;

const statuses = {
  planned: 'https://schema.org/EventScheduled',
  postponed: 'https://schema.org/EventPostponed',
  canceled: 'https://schema.org/EventCancelled',
} as const;

/** A date, which has no location if neither a place nor an online meeting is known. */
export function toEvent(view: View, date: CatalogDate, summary: string | undefined) {
  const { title, startAt, startTimeAt, endAt, endTimeAt, zone, state, isOnline, price } = date;
  const place = toPlace(date);
  const url = view.urls.date(date);
  const online = { '@type': 'VirtualLocation', url } satisfies Leaf<schema.VirtualLocation>;
  const locations = [...(place ? [place] : []), ...(isOnline ? [online] : [])];
  const mode = isOnline ? (place ? 'Mixed' : 'Online') : 'Offline';
  return {
    ...context,
    '@type': 'EducationEvent',
    name: title,
    startDate: toMoment(startAt, startTimeAt, zone),
    // A day without a time would be before a start with one.
    ...((startTimeAt === null || endTimeAt !== null || startAt < endAt) && {
      endDate: toMoment(endAt, endTimeAt, zone),
    }),
    eventStatus: statuses[state],
    eventAttendanceMode: `https://schema.org/${mode}EventAttendanceMode` as const,
    ...(locations.length > 0 && { location: locations.length === 1 ? locations[0]! : locations }),
    description: summary ?? `${title} – ${view.school.title}`,
    url,
    organizer: toOrganization(view),
    ...(price && { offers: toOffer(date, price, url) }),
  } satisfies Data;
}

const toMoment = (day: string, time: string | null, zone: string) =>
  time === null ? day : withOffset(`${day} ${time}`, zone);

function toPlace(date: CatalogDate) {
  const { location, placeTitle, placeAdditionalInfo, isOnline } = date;
  const isVenue = location !== null && location.isVirtual !== true;
  const [known] = isVenue ? locationLines(location) : placeTitle ? [placeTitle] : [];
  // Beside an online meeting it need not be a place.
  const name = known ?? (isOnline ? null : placeAdditionalInfo);
  if (name === null) return undefined;
  const { address, zipcode, city } = isVenue ? location : { address: null, zipcode: null, city: placeTitle };
  return {
    '@type': 'Place',
    name,
    ...(known !== undefined && placeAdditionalInfo !== null && { description: placeAdditionalInfo }),
    address:
      address || zipcode || city
        ? {
            '@type': 'PostalAddress',
            ...(address && { streetAddress: address }),
            ...(zipcode && { postalCode: zipcode }),
            ...(city && { addressLocality: city }),
          }
        : name,
  } satisfies Leaf<schema.Place>;
}

const toOffer = (date: CatalogDate, price: NonNullable<CatalogDate['price']>, url: string) =>
  ({
    '@type': 'Offer',
    price: toDecimal(price.value),
    priceCurrency: price.currency,
    availability:
      canBook(date) && date.seats.status === 'open' ? 'https://schema.org/InStock' : 'https://schema.org/SoldOut',
    validThrough: withOffset(toBookingEnd(date), date.zone),
    url,
  }) satisfies Leaf<schema.Offer>;
