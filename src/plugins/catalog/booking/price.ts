import { Problem, type CodedError } from '../../../core/errors.ts';
import { toMinorUnits, type Minor } from '../../../core/money.ts';
import type { Ctx } from '../../../database/context.ts';
import type { BookingInput } from '../../../resources/booking/body-schema.ts';
import { agreedTotals, type AgreedLine } from '../../../resources/quotes/price-service.ts';
import { previewQuote, type BookingQuote } from '../../../resources/quotes/service.ts';

export type Priced = { quote: BookingQuote | undefined; errors: CodedError[] };

/** The quote of a form. A code that is not valid is among the errors, and the quote is without it. */
export async function priceForm(ctx: Ctx, input: BookingInput): Promise<Priced> {
  const first = await tryQuote(ctx, input);
  const isOf = (field: string) => first.errors.some(({ code }) => code.startsWith(field));
  const faulty = (['campaign_code', 'voucher_code'] as const).filter(isOf);
  if (first.quote || faulty.length === 0) return first;
  const without = { ...input, ...Object.fromEntries(faulty.map((field) => [field, undefined])) };
  const { quote, errors } = await tryQuote(ctx, without);
  return { quote, errors: quote ? first.errors : [...first.errors, ...errors] };
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

/** With VAT. */
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
