import type { Fault } from '../../core/errors.ts';
import { fault, getFault, refused, type BookingCode } from './schema.ts';
import { isStorable, priceOrder, voucherPays, type Discount, type Sold } from './price-service.ts';
import { decideSeats } from '../seats/service.ts';
import type { SeatStatus } from '../seats/schema.ts';
import type { Asked, AskedParticipant, BookingFound, CampaignFound, DateFound, ProductFound } from './quote-schema.ts';

/** Where each participant gets which status, what is sold to them, and what that comes to. */
export type BookingQuote = ReturnType<typeof quoteBooking>;

/**
 * Decides a booking from what was asked and what is there, without touching either. Throws with all that is wrong with
 * it, the `faults` that were found before first.
 */
export function quoteBooking(requested: Asked, found: BookingFound, faults: Fault[]) {
  const { participants = [], config = {} } = requested;
  const { voucher } = found;
  const date = found.dates.find(({ id }) => id === requested.coursedate_id);
  const currency = requested.currency ?? date?.courseCurrency;

  const products = new Map(found.products.map((product) => [product.id, product]));
  const bought = participants.map((participant) => getProducts(participant, date, products));
  const children = childrenByTrigger(date, found.dates);
  const dates = date ? participants.map(({ trigger_value }) => children.get(trigger_value ?? null) ?? date) : [];
  const seats = decideSeats(
    found.dates,
    dates.map(({ id }, n) => ({ courseDateId: id, status: participants[n]!.status_id ?? 1 })),
    { check: config.seats_availability_check ?? true, waitWhenFull: config.waiting_list_when_full ?? false },
  );
  const { lines, totals, discount } = priceOrder(soldBy(bought), discountsFor(requested, found, currency));
  const wrong = [
    ...faults,
    ...wrongDates(requested, date, dates),
    ...wrongProducts(bought, currency),
    ...wrongPayer(requested, found),
    ...wrongCampaign(requested, found, date, currency),
    ...wrongVoucher(requested, found, currency),
    ...(isStorable(totals) ? [] : [fault('order_could_not_be_created')]),
    ...seats.flatMap((status, n) => (status === undefined ? [getFault(n, 'no_seats_available')] : [])),
  ];
  if (wrong.length > 0) throw refused(wrong);

  return {
    // Without a fault there is a date, hence a currency, and a place for each.
    date: date!,
    currency: currency!,
    participants: dates.map(({ id, courseId }, n) => ({
      courseId,
      courseDateId: id,
      status: seats[n] as SeatStatus,
      productIds: bought[n]!.products.map((product) => product.id),
    })),
    lines,
    totals,
    campaignId: discount?.campaignId ?? null,
    customer: found.customer,
    voucher: voucher && { id: voucher.id, code: voucher.code, pays: voucherPays(voucher.balance, totals.inclVat) },
  };
}

/** The first child of the date for each trigger value that leads to one. */
function childrenByTrigger(date: DateFound | undefined, all: DateFound[]) {
  const children = new Map<string | null, DateFound>();
  for (const child of all) {
    const { id, triggerValue } = child;
    if (id !== date?.id && triggerValue !== null && !children.has(triggerValue)) children.set(triggerValue, child);
  }
  return children;
}

function wrongDates({ coursedate_id, config = {} }: Asked, date: DateFound | undefined, dates: DateFound[]): Fault[] {
  if (!date) return coursedate_id === undefined ? [] : [fault('course_date_identifier_invalid')];
  const { reject_cancelled_course_date = true, reject_passed_deadline = true } = config;
  const getCodes = ({ isCanceled, isPassed }: DateFound) => [
    ...(isCanceled && reject_cancelled_course_date ? (['course_date_cancelled'] as const) : []),
    ...(isPassed && reject_passed_deadline ? (['deadline_passed'] as const) : []),
  ];
  const ofChildren = dates.flatMap((child, n) =>
    child === date ? [] : getCodes(child).map((code) => getFault(n, code)),
  );
  return [...getCodes(date).map(fault), ...ofChildren];
}

/** What a participant buys, or why that cannot be sold. */
type Bought = { products: ProductFound[]; code?: BookingCode };

/** The course's main product unless products are named, and then just one of the course: others are what goes with it. */
function getProducts(
  { products }: AskedParticipant,
  date: DateFound | undefined,
  found: Map<number, ProductFound>,
): Bought {
  if (products === undefined) {
    if (date?.mainProduct) return { products: [date.mainProduct] };
    return date ? { products: [], code: 'default_course_product_missing' } : { products: [] };
  }
  const named = products.flatMap((id) => found.get(id) ?? []);
  if (named.length < products.length) return { products: [], code: 'participant_products_invalid' };
  const own = named.filter(({ courseId }) => courseId === date?.courseId).length;
  if (date && own === 0) return { products: named, code: 'participant_does_not_have_a_course_product' };
  if (date && own > 1) return { products: named, code: 'participant_have_multiple_course_products' };
  if (new Set(products).size < products.length) return { products: named, code: 'participant_products_invalid' };
  return { products: named };
}

function wrongProducts(bought: Bought[], currency: string | undefined): Fault[] {
  const each = bought.flatMap(({ code }, n) => {
    if (code === undefined) return [];
    return code === 'default_course_product_missing' ? [fault(code)] : [getFault(n, code)];
  });
  const all = bought.flatMap(({ products }) => products);
  const isForeign = currency !== undefined && all.some((product) => product.currency !== currency);
  return isForeign ? [...each, fault('exchange_rate_does_not_exist')] : each;
}

/** One line for each product, its quantity the participants who buy it. */
function soldBy(bought: Bought[]): Sold[] {
  const sold = new Map<number, Sold>();
  for (const { id: productId, price, vatPercentage } of bought.flatMap(({ products }) => products)) {
    const quantity = (sold.get(productId)?.quantity ?? 0) + 1;
    sold.set(productId, { productId, price, vatPercentage, quantity });
  }
  return [...sold.values()];
}

const wrongPayer = ({ customer_id }: Asked, { customer }: BookingFound): Fault[] =>
  customer_id !== undefined && !customer?.isActive ? [fault('customer_invalid')] : [];

/** Whether a campaign lowers this order: an amount only does in its own currency. */
const applies = (campaign: CampaignFound, currency: string | undefined) =>
  campaign.isRunning &&
  campaign.forCourse &&
  campaign.forCustomer &&
  (campaign.type === 'Percent' || campaign.currency === currency);

/** A campaign's code wins over the customer's agreements. */
function discountsFor({ campaign_code }: Asked, { campaigns }: BookingFound, currency: string | undefined): Discount[] {
  const requested = campaigns.filter(({ isNamed }) => isNamed === (campaign_code !== undefined));
  return requested
    .filter((campaign) => applies(campaign, currency))
    .map(({ id, type, value }) => ({ campaignId: id, type, value }));
}

function wrongCampaign(
  { campaign_code }: Asked,
  { campaigns }: BookingFound,
  date: DateFound | undefined,
  currency: string | undefined,
): Fault[] {
  if (campaign_code === undefined) return [];
  const campaign = campaigns.find(({ isNamed }) => isNamed);
  if (campaign?.isExpired) return [fault('campaign_code_expired')];
  // Without a date nobody can say what it would apply to.
  const isRight = campaign && (date ? applies(campaign, currency) : campaign.isRunning);
  return isRight ? [] : [fault('campaign_code_invalid')];
}

function wrongVoucher({ voucher_code }: Asked, { voucher }: BookingFound, currency: string | undefined): Fault[] {
  if (voucher_code === undefined) return [];
  if (voucher?.isExpired) return [fault('voucher_code_expired')];
  const isRight = voucher && !voucher.isArchived && (currency === undefined || voucher.currency === currency);
  return isRight ? [] : [fault('voucher_code_invalid')];
}
