import { toDecimal, toMinorUnits } from '../../../../core/money.ts';
import type { Fields } from '../../record-type.ts';
import { detailedOrderTitle } from '../../../../core/date-format.ts';
import type { Booking } from './bookings.ts';
import { plusDays, type Calendar } from './calendar.ts';
import { getCampaign, getDiscount } from './campaigns.ts';
import { toEndDate, toLocation } from './dates.ts';
import type { Line } from './lines.ts';
import { locationLines } from './locations.ts';

/** Invoice and export status: runs are billed from their start, some orders earlier. */
function billing({ weekday }: Calendar, { n, run, orderedOn }: Booking) {
  if (run.start < weekday(-1, 1)) {
    const day = plusDays(run.start, 4);
    return { invoicedOn: day, exportedOn: day, isPaid: n % 7 !== 0 };
  }
  const invoicedOn = n % 4 < 2 ? plusDays(orderedOn, 1) : undefined;
  return { invoicedOn, exportedOn: n % 4 === 0 ? invoicedOn : undefined, isPaid: false };
}

export const isPaid = (calendar: Calendar, booking: Booking) => billing(calendar, booking).isPaid;

/** Orders of bookings, with one order line each. */
export const orderLines = (calendar: Calendar, bookings: Booking[]): Line[] =>
  bookings.map((booking) => orderLine(calendar, booking));

function orderLine(calendar: Calendar, booking: Booking): Line {
  const { n, ref, run, course, orderedOn, customer, participants } = booking;
  const { invoicedOn, exportedOn, isPaid } = billing(calendar, booking);
  const campaign = getCampaign({
    ...{ course: run.course, customer: customer?.ref, people: participants.length, orderedOn },
    ...{ today: calendar.today, isAware: n % 2 === 0 },
  });
  const [booker] = participants.map(({ user }) => user);
  const placeRef = toLocation(run)['place_id'];
  const place = locationLines.find(({ kind, ref }) => kind === 'place' && ref === placeRef)?.['title'];
  return {
    kind: 'order',
    ref,
    title: course.title,
    title_detailed: detailedOrderTitle(run.start, toEndDate(run), (place as string | undefined) ?? null),
    customer_id: customer?.ref,
    idCampaign: campaign?.ref,
    seller_id: customer?.['seller_id'],
    currency: course.price_currency,
    payment_method: 'invoice',
    booker: fullName(booker!),
    is_paid: isPaid,
    invoiced_at: invoicedOn === undefined ? undefined : `${invoicedOn} 06:15`,
    exported_at: exportedOn === undefined ? undefined : `${exportedOn} 07:30`,
    ...invoiceTo(customer ?? booker!, customer === undefined),
    ...(n % 10 === 3 ? { your_reference: `PO-${4100 + n}`, gln_number: '7080000000000' } : {}),
    ...(n % 15 === 7 ? { custom_properties: { kanal: 'Telefon' } } : {}),
    booking: {
      ref: `${ref}/booking`,
      coursedate_id: run.fields['parent_id'] ?? run.ref,
      booker_name: fullName(booker!),
      booker_email: booker!['email'],
      booker_phone: booker!['phone'],
      booker_language_id: course.teaching_language,
    },
    lines: [priced(booking, campaign, { invoicedOn, exportedOn })],
  };
}

const fullName = (user: Line) => `${String(user['firstname'])} ${String(user['lastname'])}`;

/** The customer's address, or the home address of a person without an account. */
const invoiceTo = (payer: Line, isGuest: boolean): Fields => ({
  invoice_address_1: payer[isGuest ? 'home_address_1' : 'post_address_1'],
  invoice_zipcode: payer[isGuest ? 'home_zipcode' : 'post_zipcode'],
  invoice_city: payer[isGuest ? 'home_city' : 'post_city'],
  invoice_email: payer['invoice_email'] ?? payer['email'],
});

/** Order line of one product, with the participants as quantity; prices of invoice and export equal the order's. */
function priced(
  { ref, run, course, participants }: Booking,
  campaign: ReturnType<typeof getCampaign>,
  { invoicedOn, exportedOn }: { invoicedOn: string | undefined; exportedOn: string | undefined },
): Fields {
  const quantity = participants.length;
  const full = toMinorUnits(String(course.price_value ?? 0));
  // Corporate courses have a fixed price.
  const price = toDecimal(course.type === 'corporate' ? full / BigInt(quantity) : full);
  const { percent, amount, calculated } = getDiscount(campaign, price, quantity);
  const at = (step: string) => ({
    [`price_at_${step}_per_item_vat_excluded`]: price,
    [`discount_percent_at_${step}`]: percent,
    [`discount_calculated_at_${step}`]: calculated,
  });
  return {
    ref: `${ref}/line`,
    product_id: `${run.course}/products/1`,
    quantity,
    vat_percentage: course.vat_percentage,
    discount_amount_at_order: amount,
    ...at('order'),
    ...(invoicedOn === undefined ? {} : at('invoice')),
    ...(exportedOn === undefined ? {} : at('export')),
  };
}
