import { amountText, toMinorUnits, toPercent, type Minor } from '../../lib/money.ts';

/** A line as it is agreed; its discount is that of all its items together. */
export type AgreedLine = {
  quantity: number;
  priceAtOrder: string;
  discountCalculatedAtOrder: string;
  vatPercentage: string;
};

/** What an order keeps of its lines: discounts first, then VAT, rounded half up for each line. */
export function agreedTotals(lines: AgreedLine[]) {
  let [before, discounts, vat] = [0n, 0n, 0n];
  for (const line of lines) {
    const price = BigInt(line.quantity) * toMinorUnits(line.priceAtOrder);
    const discount = toMinorUnits(line.discountCalculatedAtOrder);
    before += price;
    discounts += discount;
    vat += toPercent(price - discount, line.vatPercentage);
  }
  return {
    totalBeforeDiscounts: amountText(before),
    totalDiscounts: amountText(discounts),
    totalVat: amountText(vat),
  };
}

/** What a campaign takes off each item: so many percent, or an amount in the order's currency. */
export type Discount = { campaignId: number; type: 'Percent' | 'Value'; value: string };

/** One product of an order: its price for one, without VAT. */
export type Sold = { productId: number; price: string; vatPercentage: string; quantity: number };

/** A line as it is agreed; the percentage and the amount are those of one item. */
export type PricedLine = AgreedLine & {
  productId: number;
  discountPercentAtOrder: string;
  discountAmountAtOrder: string;
};

/** A price never falls below 0: what is taken off an item is its price at most. */
export function priceLine({ productId, price, vatPercentage, quantity }: Sold, discount?: Discount): PricedLine {
  const percent = discount?.type === 'Percent' ? discount.value : '0';
  const amount = discount?.type === 'Value' ? least(toMinorUnits(discount.value), toMinorUnits(price)) : 0n;
  const calculated = toPercent(BigInt(quantity) * toMinorUnits(price), percent) + BigInt(quantity) * amount;
  return {
    productId,
    quantity,
    vatPercentage,
    priceAtOrder: price,
    discountPercentAtOrder: percent,
    discountAmountAtOrder: amountText(amount),
    discountCalculatedAtOrder: amountText(calculated),
  };
}

/** The lines of an order with the one of the discounts that takes off the most, the first of equal ones. */
export function priceOrder(sold: Sold[], discounts: Discount[]) {
  const full = { discount: undefined, lines: sold.map((one) => priceLine(one)) };
  const lowered = discounts.map((discount) => ({ discount, lines: sold.map((one) => priceLine(one, discount)) }));
  const saved = ({ lines }: { lines: PricedLine[] }) => toMinorUnits(agreedTotals(lines).totalDiscounts);
  const [first = full, ...others] = lowered;
  const best = others.reduce((most, one) => (saved(one) > saved(most) ? one : most), first);
  return { ...best, totals: toTotals(best.lines) };
}

function toTotals(lines: PricedLine[]) {
  const agreed = agreedTotals(lines);
  const exclVat = toMinorUnits(agreed.totalBeforeDiscounts) - toMinorUnits(agreed.totalDiscounts);
  const vat = toMinorUnits(agreed.totalVat);
  return { agreed, exclVat, vat, inclVat: exclVat + vat };
}
export type OrderTotals = ReturnType<typeof toTotals>;

/** What the database can hold of an amount: `numeric(12,2)`. */
const maxMoney = 999_999_999_999n;
export const isStorable = ({ agreed, inclVat }: OrderTotals) =>
  toMinorUnits(agreed.totalBeforeDiscounts) <= maxMoney && inclVat <= maxMoney;

/** What a voucher pays of a total: all of it, or all that is left of the voucher. */
export const voucherPays = (balance: string, total: Minor): Minor => least(toMinorUnits(balance), total);

const least = (a: Minor, b: Minor) => (a < b ? a : b);
