import { Problem, type CodedError } from '../../../../core/errors.ts';
import { toMinorUnits, type Minor } from '../../../../core/money.ts';
import type { Ctx } from '../../../../database/context.ts';
import type { BookingInput } from '../../../../domains/bookings/booking/body-schema.ts';
import { validateCampaign } from '../../../../domains/orders/campaigns/service.ts';
import { agreedTotals, type AgreedLine } from '../../../../domains/orders/orders/price-service.ts';
import { previewQuote, type BookingQuote } from '../../../../domains/bookings/booking/quote-service.ts';
import { validateVoucher } from '../../../../domains/orders/vouchers/service.ts';

/** An error of the booking service, or of the form alone. */
export type FormFault = Pick<CodedError, 'field'> & { code: string };
export type Priced = { quote: BookingQuote | undefined; errors: FormFault[] };

export const codeNames = ['campaign_code', 'voucher_code'] as const;

/** The quote of a form. A code that is not valid, or pays nothing, is among the errors, and the quote is without it. */
export async function priceForm(ctx: Ctx, input: BookingInput): Promise<Priced> {
  const first = await tryQuote(ctx, input);
  const faulty = codeNames.filter((name) => first.errors.some(({ code }) => code.startsWith(name)));
  const without = { ...input, ...Object.fromEntries(faulty.map((name) => [name, undefined])) };
  const { quote, errors } = faulty.length > 0 ? await tryQuote(ctx, without) : { ...first, errors: [] };
  const isSpent = quote?.voucher?.pays === 0n && quote.totals.inclVat > 0n;
  const own = await Promise.all(first.errors.map((one) => nameField(ctx, input, one)));
  return { quote, errors: [...own, ...errors, ...(isSpent ? [{ code: 'voucher_code_used_up' }] : [])] };
}

/** True if the code in one field is a code of the other that is not archived or deleted. */
const isOfOther = {
  campaign_code: async (ctx: Ctx, { campaign_code: code }: BookingInput) => {
    const { voucher } = await validateVoucher(ctx, code!);
    return !voucher.is_deleted && voucher.archived_at === null;
  },
  voucher_code: async (ctx: Ctx, { voucher_code: code, coursedate_id }: BookingInput) =>
    !(await validateCampaign(ctx, code!, { coursedate_id: coursedate_id! })).campaign.is_archived,
};

/** Tells a code that is one of the other field from an unknown one. */
async function nameField(ctx: Ctx, input: BookingInput, fault: FormFault): Promise<FormFault> {
  const own = codeNames.find((name) => fault.code === `${name}_invalid`);
  if (own === undefined) return fault;
  try {
    return (await isOfOther[own](ctx, input)) ? { code: `${own}_misplaced` } : fault;
  } catch (error) {
    if (error instanceof Problem && (error.kind === 'not_found' || error.kind === 'invalid')) return fault;
    throw error;
  }
}

async function tryQuote(ctx: Ctx, input: BookingInput): Promise<Priced> {
  try {
    return { quote: await previewQuote(ctx, input, []), errors: [] };
  } catch (error) {
    if (!(error instanceof Problem) || error.kind !== 'invalid') throw error;
    return { quote: undefined, errors: error.errors };
  }
}

const zero = { discountCalculatedAtOrder: '0' };

/** Sums a line with VAT. */
function toTotal(line: AgreedLine): Minor {
  const { totalBeforeDiscounts, totalDiscounts, totalVat } = agreedTotals([line]);
  return toMinorUnits(totalBeforeDiscounts) - toMinorUnits(totalDiscounts) + toMinorUnits(totalVat);
}

/** Amounts of a quote with VAT: of each line without its discount, all discounts, and what is to pay. */
export function toAmounts({ lines, totals, voucher, currency }: BookingQuote) {
  const full = lines.map((line) => ({
    productId: line.productId,
    quantity: line.quantity,
    amount: toTotal({ ...line, ...zero }),
  }));
  const before = full.reduce((sum, { amount }) => sum + amount, 0n);
  const byVoucher = voucher?.pays ?? 0n;
  return {
    currency,
    lines: full,
    discount: before - totals.inclVat,
    total: totals.inclVat,
    vat: totals.vat,
    byVoucher,
    toPay: totals.inclVat - byVoucher,
  };
}
