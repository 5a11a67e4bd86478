import type { CodedError } from '../../../core/errors.ts';
import type { Ctx, WriteCtx } from '../../../database/context.ts';
import type { Queryable } from '../../../database/statements.ts';
import { bookingProblem, participantError, bookingError, type BookingCode } from '../../../core/booking-errors.ts';
import {
  isStorable,
  priceOrder,
  voucherAmount,
  type Discount,
  type OrderedProduct,
} from '../../orders/orders/price-service.ts';
import { decideSeats } from '../seat-assignment/assignment-service.ts';
import { endDueHolds } from '../seat-assignment/promotion-service.ts';
import { states } from '../../../core/reference/participant-states.ts';
import type { ProductFound } from '../../orders/orders/schema.ts';
import type { QuoteRequest, QuoteParticipant } from './schema.ts';
import {
  findChildren,
  findDate,
  findPayers,
  findProducts,
  type BookingContext,
  type CampaignFound,
  type DateFound,
} from './sql.ts';

export type { DateFound } from './sql.ts';

/** Loads the date, products, campaigns, voucher and customer, once the offers of the date that are due have ended. */
export async function loadContext(w: WriteCtx, request: QuoteRequest): Promise<BookingContext> {
  const context = await findContext(w, w.tx, request);
  const due = context.dates.filter(({ hasDueOffers }) => hasDueOffers);
  if (due.length === 0) return context;
  await endDueHolds(
    w,
    due.map(({ id }) => id),
  );
  return findContext(w, w.tx, request);
}

/** Quotes without booking; `adjust` changes what is stored. Takes the lock only to free seats of due offers. */
export async function previewQuote(
  ctx: Ctx,
  request: QuoteRequest,
  errors: CodedError[],
  adjust = (context: BookingContext) => context,
): Promise<BookingQuote> {
  const context = await findContext(ctx, ctx.unlockedStore, request);
  if (!context.dates.some(({ hasDueOffers }) => hasDueOffers)) return quoteBooking(request, adjust(context), errors);
  return ctx.write(['dates', 'people', 'money'], async (w) =>
    w.tx.rollBack(quoteBooking(request, adjust(await loadContext(w, request)), errors)),
  );
}

async function findContext({ providerId }: Ctx, tx: Queryable, request: QuoteRequest): Promise<BookingContext> {
  const { participants = [], coursedate_id = null } = request;
  const { campaign_code: campaignCode, customer_id: customerId, voucher_code: voucherCode } = request;
  const triggers = participants.flatMap(({ trigger_value }) => trigger_value ?? []);
  const ids = participants.flatMap(({ products }) => products ?? []);
  const isPlain = campaignCode === undefined && customerId === undefined && voucherCode === undefined;

  const [date] = await findDate(tx, { providerId, id: coursedate_id });
  const children =
    date && triggers.length > 0 ? await findChildren(tx, { providerId, parentId: date.id, triggers }) : [];
  const products = ids.length > 0 ? await findProducts(tx, { providerId, ids }) : [];
  const payers = isPlain
    ? undefined
    : await findPayers.one(tx, {
        ...{ providerId, courseId: date?.courseId ?? null, campaignCode: campaignCode ?? null },
        ...{ customerId: customerId ?? null, voucherCode: voucherCode ?? null },
      });
  return {
    dates: date ? [date, ...children] : [],
    products,
    campaigns: payers?.campaigns ?? [],
    voucher: payers?.voucher ?? null,
    customer: payers?.customer ?? null,
  };
}

export type BookingQuote = ReturnType<typeof quoteBooking>;

/** Decides statuses, lines and totals of a booking. Throws all of its errors, `errors` from validation first. */
export function quoteBooking(request: QuoteRequest, context: BookingContext, errors: CodedError[]) {
  const { places, participants = Array.from({ length: places ?? 0 }, (): QuoteParticipant => ({})) } = request;
  const { config = {} } = request;
  const pathOfPlaces = places === undefined ? undefined : 'places';
  const { voucher } = context;
  const date = context.dates.find(({ id }) => id === request.coursedate_id);
  const currency = request.currency ?? date?.courseCurrency;

  const products = new Map(context.products.map((product) => [product.id, product]));
  const purchases = participants.map((participant) => toPurchase(participant, date, products));
  const children = childrenByTrigger(date, context.dates);
  const dates = date
    ? participants.map(({ trigger_value }) => children.get(trigger_value?.toLowerCase() ?? null) ?? date)
    : [];
  const seats = decideSeats(
    context.dates,
    dates.map(({ id }, n) => ({
      courseDateId: id,
      cause: places === undefined ? bookingCauses[participants[n]?.status_id ?? 1] : 'reserve',
    })),
    {
      check: config.seats_availability_check ?? true,
      waitWhenFull: config.waiting_list_when_full ?? false,
      together: request.waiting_together ?? false,
    },
  );
  const { lines, totals, discount } = priceOrder(
    toOrderedProducts(purchases),
    discountsFor(request, context, currency),
  );
  const allErrors = [
    ...errors,
    ...checkDates(request, date, dates),
    ...checkProducts(purchases, currency),
    ...checkCustomer(request, context),
    ...checkCampaign(request, context, date, currency),
    ...checkVoucher(request, context, currency),
    ...(isStorable(totals) ? [] : [bookingError('order_could_not_be_created')]),
    ...seats.flatMap((state, n) => (state === undefined ? [errorOf(n, 'no_seats_available', pathOfPlaces)] : [])),
  ];
  // Without an error there is a date, hence a currency.
  if (date === undefined || currency === undefined || allErrors.length > 0)
    throw bookingProblem(allErrors.map(withField));

  return {
    ...{ date, currency },
    participants: dates.map(({ id, courseId }, n) => ({
      courseId,
      courseDateId: id,
      // Without an error each has a seat.
      ...states[seats[n]!],
      productIds: purchases[n]!.products.map((product) => product.id),
    })),
    lines,
    totals,
    campaignId: discount?.campaignId ?? null,
    customer: context.customer,
    voucher: voucher && { id: voucher.id, code: voucher.code, pays: voucherAmount(voucher.balance, totals.inclVat) },
  };
}

const errorOf = (n: number, code: BookingCode, concerns = `participants[${n}]`): CodedError => ({
  ...participantError(n, code),
  concerns,
});

/** Fields of a booking that its rules are about, by their codes. */
const ruledFields: Partial<Record<CodedError['code'], keyof QuoteRequest>> = {
  course_date_identifier_invalid: 'coursedate_id',
  course_date_cancelled: 'coursedate_id',
  deadline_passed: 'coursedate_id',
  default_course_product_missing: 'coursedate_id',
  customer_invalid: 'customer_id',
  exchange_rate_does_not_exist: 'currency',
  campaign_code_invalid: 'campaign_code',
  campaign_code_expired: 'campaign_code',
  campaign_code_used_up: 'campaign_code',
  voucher_code_invalid: 'voucher_code',
  voucher_code_expired: 'voucher_code',
  order_could_not_be_created: 'participants',
};
const withField = (error: CodedError): CodedError =>
  error.field === undefined ? { concerns: ruledFields[error.code], ...error } : error;

/** The causes of the requested statuses. */
const bookingCauses = { 1: 'book', 3: 'bookWaiting', 7: 'bookUnconfirmed' } as const;

/** The first child of the date for each trigger value. */
function childrenByTrigger(date: DateFound | undefined, all: DateFound[]) {
  const children = new Map<string | null, DateFound>();
  for (const child of all) {
    const { id } = child;
    const trigger = child.triggerValue?.trim().toLowerCase();
    if (id !== date?.id && trigger !== undefined && !children.has(trigger)) children.set(trigger, child);
  }
  return children;
}

function checkDates(
  { coursedate_id, config = {} }: QuoteRequest,
  date: DateFound | undefined,
  dates: DateFound[],
): CodedError[] {
  if (!date) return coursedate_id === undefined ? [] : [bookingError('course_date_identifier_invalid')];
  const { reject_cancelled_course_date = true, reject_passed_deadline = true } = config;
  const toCodes = ({ isCanceled, isPassed }: DateFound) => [
    ...(isCanceled && reject_cancelled_course_date ? (['course_date_cancelled'] as const) : []),
    ...(isPassed && reject_passed_deadline ? (['deadline_passed'] as const) : []),
  ];
  const ofChildren = dates.flatMap((child, n) =>
    child === date ? [] : toCodes(child).map((code) => errorOf(n, code, `participants[${n}].trigger_value`)),
  );
  return [...toCodes(date).map(bookingError), ...ofChildren];
}

/** A participant's products, or the code of the error. */
type Purchase = { products: ProductFound[]; code?: BookingCode };

/** Takes the course's main product, or the requested products, which must hold exactly one of the course. */
function toPurchase(
  { products }: QuoteParticipant,
  date: DateFound | undefined,
  productsById: Map<number, ProductFound>,
): Purchase {
  if (products === undefined) {
    if (date?.mainProduct) return { products: [date.mainProduct] };
    return date ? { products: [], code: 'default_course_product_missing' } : { products: [] };
  }
  const named = products.flatMap((id) => productsById.get(id) ?? []);
  if (named.length < products.length) return { products: [], code: 'participant_products_invalid' };
  const own = named.filter(({ courseId }) => courseId === date?.courseId).length;
  if (date && own === 0) return { products: named, code: 'participant_does_not_have_a_course_product' };
  if (date && own > 1) return { products: named, code: 'participant_have_multiple_course_products' };
  if (new Set(products).size < products.length) return { products: named, code: 'participant_products_invalid' };
  return { products: named };
}

function checkProducts(purchases: Purchase[], currency: string | undefined): CodedError[] {
  const each = purchases.flatMap(({ code }, n) => {
    if (code === undefined) return [];
    return code === 'default_course_product_missing'
      ? [bookingError(code)]
      : [errorOf(n, code, `participants[${n}].products`)];
  });
  const all = purchases.flatMap(({ products }) => products);
  const isForeign = currency !== undefined && all.some((product) => product.currency !== currency);
  return isForeign ? [...each, bookingError('exchange_rate_does_not_exist')] : each;
}

/** One product each, with the number of participants who buy it. */
function toOrderedProducts(purchases: Purchase[]): OrderedProduct[] {
  const ordered = new Map<number, OrderedProduct>();
  for (const { id: productId, price, vatPercentage } of purchases.flatMap(({ products }) => products)) {
    const quantity = (ordered.get(productId)?.quantity ?? 0) + 1;
    ordered.set(productId, { productId, price, vatPercentage, quantity });
  }
  return [...ordered.values()];
}

const checkCustomer = ({ customer_id }: QuoteRequest, { customer }: BookingContext): CodedError[] =>
  customer_id !== undefined && !customer?.isActive ? [bookingError('customer_invalid')] : [];

/** A discount by amount applies only in its own currency. */
const applies = (campaign: CampaignFound, currency: string | undefined) =>
  campaign.isOpen &&
  campaign.forCourse &&
  campaign.forCustomer &&
  (campaign.type === 'Percent' || campaign.currency === currency);

/** A campaign's code wins over the customer's agreements. */
function discountsFor(
  { campaign_code }: QuoteRequest,
  { campaigns }: BookingContext,
  currency: string | undefined,
): Discount[] {
  const candidates = campaigns.filter(({ isNamed }) => isNamed === (campaign_code !== undefined));
  return candidates
    .filter((campaign) => !campaign.isUsedUp && applies(campaign, currency))
    .map(({ id, type, value }) => ({ campaignId: id, type, value }));
}

function checkCampaign(
  { campaign_code }: QuoteRequest,
  { campaigns }: BookingContext,
  date: DateFound | undefined,
  currency: string | undefined,
): CodedError[] {
  if (campaign_code === undefined) return [];
  const campaign = campaigns.find(({ isNamed }) => isNamed);
  if (campaign?.isExpired) return [bookingError('campaign_code_expired')];
  // Without a date only the campaign itself can be checked.
  const isValid = campaign && (date ? applies(campaign, currency) : campaign.isOpen);
  if (!isValid) return [bookingError('campaign_code_invalid')];
  return campaign.isUsedUp ? [bookingError('campaign_code_used_up')] : [];
}

function checkVoucher(
  { voucher_code }: QuoteRequest,
  { voucher }: BookingContext,
  currency: string | undefined,
): CodedError[] {
  if (voucher_code === undefined) return [];
  if (voucher?.isExpired) return [bookingError('voucher_code_expired')];
  const isValid = voucher && !voucher.isArchived && (currency === undefined || voucher.currency === currency);
  return isValid ? [] : [bookingError('voucher_code_invalid')];
}
