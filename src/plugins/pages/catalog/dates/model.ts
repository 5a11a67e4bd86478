import type { Static } from '@sinclair/typebox';
import type { Venue } from '../../../../core/address-format.ts';
import type { DateSpan } from '../../../../core/date-format.ts';
import { applyPercentage, toMinorUnits, type Minor } from '../../../../core/money.ts';
import { safeLink } from '../../../../core/safe-link.ts';
import type { Settings } from '../../../../core/settings.ts';
import { todayIn } from '../../../../core/timestamps.ts';
import { toInstant } from '../../../../core/zoned-time.ts';
import { canceled, postponed } from '../../../../core/reference/statuses.ts';
import type { EmbeddedCourse } from '../../../../domains/courses/courses/fields.ts';
import type { Category } from '../../../../domains/courses/courses/schema.ts';
import type { CourseDate } from '../../../../domains/courses/coursedates/fields.ts';
import type { Gathering } from '../../../../domains/courses/gatherings/fields.ts';
import type { EmbeddedInstructor } from '../../../../domains/courses/instructors/fields.ts';
import type { Location } from '../../../../domains/courses/locations/fields.ts';
import type { Product } from '../../../../domains/courses/products/fields.ts';

type Titled = { id: number; title: string };

/** A course date as the catalog shows it: public values alone. */
export type CatalogDate = DateSpan &
  Venue & {
    id: number;
    courseId: number;
    title: string;
    courseTitle: string;
    /** IANA name. */
    zone: string;
    deadlineAt: string;
    state: 'planned' | 'canceled' | 'postponed';
    seats: { status: 'open' | 'waiting_list' | 'fully_booked'; free: number | null };
    /** Null where the course has none, or nothing is sold here. */
    price: Price | null;
    priceComment: string | null;
    /** Those that a participant can have one of; the price is that of the first. */
    products: Product[];
    /** The city, else the title of the place; null if neither is known. */
    city: string | null;
    isOnline: boolean;
    categories: Titled[];
    tags: Titled[];
    language: { id: string; title: string };
    externalUrl: string | null;
    gatherings: {
      id: number;
      at: string;
      endAt: string;
      theme: string | null;
      description: string | null;
      location: Venue['location'];
    }[];
    instructors: string[];
  };

/** Price in minor units, with VAT. */
export type Price = { value: Minor; vatPercentage: number; currency: string };

/** A course date with the includes of the catalog. */
export type DateItem = CourseDate & {
  course: EmbeddedCourse & { products?: Product[] };
  location: Location | null;
  place?: { title?: string; title_additional_info: string | null } | null;
  gatherings?: (Gathering & { location: Location | null })[];
  teaching_language: { id: string; title: string };
  instructors?: EmbeddedInstructor[];
};

/** Includes of lists; calendars read the gatherings that they show. */
export const dateIncludes = [
  'course',
  'course.products',
  'location',
  'place',
  'teaching_language',
  'status',
  'instructors',
];

/** `unpriced`: the courses that were given no price. */
export function toCatalogDate(
  item: DateItem,
  { timezone }: Pick<Settings, 'timezone'>,
  unpriced: Set<number>,
): CatalogDate {
  const { course, location } = item;
  // An online location has a title, but no place.
  const venue = location?.is_virtual ? null : toVenue(location);
  const isUnpriced = unpriced.has(item.course_id);
  // By agreement, as its comment says.
  const isSoldAtZero = !isUnpriced || !course.price.comment?.trim();
  const products = listProducts(course).filter(({ price }) => isSoldAtZero || price !== 0);
  const isOnline = item.is_virtual || location?.is_virtual === true;
  return {
    id: item.coursedate_id,
    courseId: item.course_id,
    title: item.title,
    courseTitle: course.title,
    startAt: item.start_at,
    endAt: item.end_at,
    startTimeAt: item.start_time_at,
    endTimeAt: item.end_time_at,
    zone: item.timezone ?? timezone,
    deadlineAt: item.deadline_at,
    isVirtual: isOnline,
    location: venue,
    placeTitle: item.place?.title ?? null,
    placeAdditionalInfo: item.place?.title_additional_info?.trim() || null,
    state: item.status_id === canceled ? 'canceled' : item.status_id === postponed ? 'postponed' : 'planned',
    seats: toSeats(item),
    price: products[0]?.price === 0 && isUnpriced ? null : toPrice(products[0]),
    priceComment: course.price.comment,
    products,
    city: venue?.city || item.place?.title || venue?.title || null,
    isOnline,
    categories: course.categories.map(toTitled),
    tags: course.tags.map(toTitled),
    language: item.teaching_language,
    externalUrl: safeLink(item.external_booking_url || course.external_booking_url) ?? null,
    gatherings: (item.gatherings ?? []).map((one) => ({
      id: one.id,
      at: one.gathering_at,
      endAt: one.gathering_end_at,
      theme: one.theme,
      description: one.description,
      location: toVenue(one.location),
    })),
    instructors: (item.instructors ?? []).map(({ name }) => name.trim()).filter(Boolean),
  };
}

/** Overbook places are booked as others are. */
function toSeats({ seats, seats_status }: DateItem): CatalogDate['seats'] {
  const { num, num_overbooked } = seats.allocated_capacity;
  const free = num === 0 ? null : Math.max(0, num + num_overbooked - seats.booking_status.num);
  return { status: free === 0 ? (seats_status as CatalogDate['seats']['status']) : 'open', free };
}

/** The main product first. The booking takes those in the currency of the course alone. */
const listProducts = ({ products = [], price }: DateItem['course']) =>
  products
    .filter(({ currency }) => currency === price.currency)
    .sort((a, b) => Number(b.is_main_product) - Number(a.is_main_product));

const toTitled = ({ id, title }: Static<typeof Category> | Titled): Titled => ({ id, title });

const toVenue = (location: Location | null): Venue['location'] =>
  location && {
    isVirtual: location.is_virtual,
    title: location.custom_title || location.title,
    address: location.address,
    zipcode: location.zipcode,
    city: location.city,
  };

/** Returns the price with VAT, rounded as the line of an order. */
export function toPrice(product: Product | undefined): Price | null {
  if (!product) return null;
  const value = toMinorUnits(String(product.price));
  const vat = applyPercentage(value, String(product.vat_percentage));
  return { value: value + vat, vatPercentage: product.vat_percentage, currency: product.currency };
}

/** The last moment of a date, as local time. */
const toEnd = ({ endAt, endTimeAt }: CatalogDate) => `${endAt} ${endTimeAt ?? '23:59:59'}`;

/** The last moment at which a date is booked, as local time. */
export function toBookingEnd(date: CatalogDate) {
  const [deadline, end] = [`${date.deadlineAt} 23:59:59`, toEnd(date)];
  return end < deadline ? end : deadline;
}

/** True after its deadline or its end. */
export function isPassed(date: CatalogDate) {
  const { deadlineAt, endAt, zone } = date;
  const today = todayIn(zone);
  // The instant is costly, and needed on the last day alone.
  return deadlineAt < today || (endAt <= today && toInstant(toEnd(date), zone) <= Date.now());
}

/** True if the form, or another site, sells a place. */
export const isSold = ({ externalUrl, products }: CatalogDate) => externalUrl !== null || products.length > 0;

/** False where nobody is booked, not even on the waiting list. */
export const canBook = (date: CatalogDate) =>
  date.state === 'planned' && date.seats.status !== 'fully_booked' && !isPassed(date) && isSold(date);
