import { applyPercentage, max, min, toDecimal, toMinorUnits, type Minor } from '../../../core/money.ts';

/** An order line; its discount is for the whole quantity. That of a credit is negative, with its quantity. */
export type AgreedLine = {
  quantity: number;
  priceAtOrder: string;
  discountCalculatedAtOrder: string;
  vatPercentage: string;
  /** Added to the VAT of a credit. */
  vatRounding?: string;
};

/** Totals of an order: discounts first, then VAT, rounded half away from zero for each line. */
export function agreedTotals(lines: AgreedLine[]) {
  let [before, discounts, vat] = [0n, 0n, 0n];
  for (const line of lines) {
    const price = BigInt(line.quantity) * toMinorUnits(line.priceAtOrder);
    const discount = toMinorUnits(line.discountCalculatedAtOrder);
    before += price;
    discounts += discount;
    vat += applyPercentage(price - discount, line.vatPercentage) + toMinorUnits(line.vatRounding ?? '0');
  }
  return {
    totalBeforeDiscounts: toDecimal(before),
    totalDiscounts: toDecimal(discounts),
    totalVat: toDecimal(vat),
  };
}

/** A discount on each item, in percent or as an amount in the order's currency. */
export type Discount = { campaignId: number; type: 'Percent' | 'Value'; value: string };

/** A product of an order; the price is for one, without VAT. */
export type OrderedProduct = { productId: number; price: string; vatPercentage: string; quantity: number };

/** The discount's percentage and amount are those of one item. */
type PricedLine = AgreedLine & {
  productId: number;
  discountPercentAtOrder: string;
  discountAmountAtOrder: string;
};

/** The discount on an item is at most its price. */
export function priceLine(
  { productId, price, vatPercentage, quantity }: OrderedProduct,
  discount?: Discount,
): PricedLine {
  const percent = discount?.type === 'Percent' ? discount.value : '0';
  const amount = discount?.type === 'Value' ? min(toMinorUnits(discount.value), toMinorUnits(price)) : 0n;
  const calculated = applyPercentage(BigInt(quantity) * toMinorUnits(price), percent) + BigInt(quantity) * amount;
  return {
    productId,
    quantity,
    vatPercentage,
    priceAtOrder: price,
    discountPercentAtOrder: percent,
    discountAmountAtOrder: toDecimal(amount),
    discountCalculatedAtOrder: toDecimal(calculated),
  };
}

/** Prices an order with the highest of the discounts, the first of equal ones. */
export function priceOrder(products: OrderedProduct[], discounts: Discount[]) {
  const full = { discount: undefined, lines: products.map((product) => priceLine(product)) };
  const discounted = discounts.map((discount) => ({
    discount,
    lines: products.map((product) => priceLine(product, discount)),
  }));
  const saved = ({ lines }: { lines: PricedLine[] }) => toMinorUnits(agreedTotals(lines).totalDiscounts);
  const [first = full, ...others] = discounted;
  const best = others.reduce((most, one) => (saved(one) > saved(most) ? one : most), first);
  return { ...best, totals: toTotals(best.lines) };
}

function toTotals(lines: PricedLine[]) {
  const agreed = agreedTotals(lines);
  const exclVat = toMinorUnits(agreed.totalBeforeDiscounts) - toMinorUnits(agreed.totalDiscounts);
  const vat = toMinorUnits(agreed.totalVat);
  return { agreed, exclVat, vat, inclVat: exclVat + vat };
}
type OrderTotals = ReturnType<typeof toTotals>;

/** The largest `numeric(12,2)`, in minor units. */
const maxMoney = 999_999_999_999n;
export const isStorable = ({ agreed, inclVat }: Pick<OrderTotals, 'agreed' | 'inclVat'>) =>
  toMinorUnits(agreed.totalBeforeDiscounts) <= maxMoney && inclVat <= maxMoney;

/** The part of a total that a voucher pays, at most its balance, and nothing of a negative one. */
export const voucherAmount = (balance: string, total: Minor): Minor => max(0n, min(toMinorUnits(balance), total));
