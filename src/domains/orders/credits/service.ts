import { asc, eq, sql } from 'drizzle-orm';
import type { ErrorCode } from '../../../core/error-codes.ts';
import { itemAt, Problem } from '../../../core/errors.ts';
import { max, min, sum, toDecimal, toMinorUnits, type Minor } from '../../../core/money.ts';
import type { Ctx, SchoolWrite } from '../../../database/context.ts';
import { recordEvents } from '../../../database/record-events.ts';
import { hasAnyId } from '../../../database/tables/columns.ts';
import { orderLines, orders } from '../../../database/tables/orders.ts';
import { grouped } from '../../../lists/relations.ts';
import { tenantWhere } from '../../../lists/tenant-scope.ts';
import { agreedTotals } from '../orders/price-service.ts';
import type { OrderCredit } from '../orders/schema.ts';
import { getOrder } from '../orders/service.ts';
import { due } from '../payments/loaders.ts';
import type { OrderBalance } from '../payments/schema.ts';
import { findDebt, updatePaid, type Debt } from '../payments/service.ts';
import {
  deductFee,
  hasRest,
  toRemainder,
  split,
  toCreditLine,
  type Line,
  adjustShares,
  assertCreditable,
  loadShares,
  takeShares,
  type PersonalPart,
  type Share,
  type TakenPart,
} from './line-service.ts';
import type { ResultingOrder } from './schema.ts';
import { archivedSql, insertFollowingOrder, returnToVouchers, returnable } from './sql.ts';

/** Parts of lines to credit, the rest of all lines unless named; a part may be of some participants of its line. */
export type CreditRequest = {
  lines?: (PersonalPart & { lineId: number })[] | undefined;
  fee?: Minor;
  reason?: string | undefined;
  /** The lines of the order, unless they are to be read. */
  found?: Found;
};
type Found = Awaited<ReturnType<typeof findLines>>;

/** Credits parts of an order by a new order, under the lock. */
export async function creditOrder(w: SchoolWrite, orderId: number, request: CreditRequest) {
  const { tx, now } = w;
  const first = await findDebt(w, orderId);
  if (first.kind === 'credit' || first.total === 0n) throw nothingLeft();
  const credited = await findParts(w, orderId, request);
  const totals = agreedTotals(credited.map(({ line }) => line));
  const { totalBeforeDiscounts, totalDiscounts, totalVat } = totals;
  const gross = toMinorUnits(totalDiscounts) - toMinorUnits(totalBeforeDiscounts) - toMinorUnits(totalVat);
  const { applied, returned, owed } = await settle(w, first, gross);

  const [voucher] = returned;
  const amount = toDecimal(-sum(returned.map(({ amount }) => amount)));
  const properties = voucher === undefined ? {} : { voucher_code: voucher.code, voucher_amount: amount };
  const { id } = await insertFollowingOrder.one(tx, {
    ...{ providerId: w.providerId, firstOrderId: orderId, now, kind: 'credit', ...totals },
    ...{ applied: toDecimal(applied), reason: request.reason ?? null, isPaid: gross !== 0n && owed === 0n },
    ...{ lines: credited.map(toRow), people: credited.flatMap(toNamed), properties, title: null, titleDetailed: null },
  });
  if (returned.length > 0) {
    const rows = returned.map(({ voucherId, amount }) => ({ voucher: voucherId, amount: toDecimal(amount) }));
    await returnToVouchers(tx, { providerId: w.providerId, creditId: id, returned: rows, now });
  }
  // Clients that synchronize by `updated_at` read the order again, which lists its credits.
  await tx
    .update(orders)
    .set({ updatedAt: now })
    .where(tenantWhere(w, orders, eq(orders.id, orderId)));
  await updatePaid(w, orderId, { byCredit: true });
  await recordEvents(w, [{ type: 'order.credited', id: orderId }]);
  return { id, creditedLines: credited };
}

const unpaid = sql<string>`greatest(0, ${due}) + (
  select coalesce(sum(r.amount::numeric), 0) from ${returnable(sql.raw('orders.provider_id'), sql.raw('orders.id'))})
  + ${sql.raw(archivedSql)}`;

/** The part of orders that no payment paid: what is due, and what vouchers paid that no credit has taken back. */
export async function findUnpaid(w: SchoolWrite, orderIds: number[]) {
  const ofOrders = tenantWhere(w, orders, hasAnyId(orders.id, orderIds));
  const found = await w.tx.select({ id: orders.id, unpaid }).from(orders).where(ofOrders);
  return new Map(found.map((one) => [one.id, toMinorUnits(one.unpaid)]));
}

/** A credit lowers the amount due first, then refunds the redeemed vouchers; the school owes the rest. */
async function settle(w: SchoolWrite, first: Debt, gross: Minor) {
  const applied = clamp(first.due, gross);
  let owed = gross - applied;
  const voucherId = sql<number>`r.voucher_id`;
  const redeemed = await w.tx
    .select({ voucherId, code: sql<string>`r.code`, amount: sql<string>`r.amount` })
    .from(returnable(w.providerId, first.id))
    .orderBy(asc(voucherId));
  const returned = redeemed.flatMap(({ amount, ...voucher }) => {
    const part = clamp(toMinorUnits(amount), owed);
    owed -= part;
    return part === 0n ? [] : [{ ...voucher, amount: part }];
  });
  return { applied, returned, owed };
}

/** The value within 0 and a limit. */
const clamp = (value: Minor, limit: Minor) => max(0n, min(value, limit));

export type Credited = {
  source: typeof orderLines.$inferSelect;
  line: Line;
  part: PersonalPart;
  shares: Share[];
  people: TakenPart['people'];
};

/** The lines of a credit: each part, less its share of the fee. */
async function findParts(
  w: SchoolWrite,
  orderId: number,
  { lines, fee = 0n, found: read }: CreditRequest,
): Promise<Credited[]> {
  const all = read ?? (await findLines(w, orderId));
  const known = new Map(all.map((one) => [one.source.id, one]));
  const named: NonNullable<CreditRequest['lines']> = lines ?? all.map(({ source }) => ({ lineId: source.id }));
  const ids = named.map(({ lineId }) => lineId);
  const wrong = ids.findIndex((id, n) => !known.has(id) || ids.indexOf(id) < n);
  const field = `lines[${wrong}].line_id`;
  if (wrong >= 0) throw known.has(itemAt(ids, wrong)) ? brokenRule(field, 'named_twice') : notValid(field);

  const found = named.map((part) => ({ ...part, ...known.get(part.lineId)! }));
  const isLeft = ({ source, rest }: (typeof found)[number]) => hasRest(source, rest);
  if (!found.some(isLeft)) throw nothingLeft();
  const chosen = found.filter((one) => isLeft(one) || one.quantity !== undefined || one.amount !== undefined);
  for (const [n, one] of found.entries()) assertCreditable(one.shares, one, `lines[${n}].participants`);
  const taken = chosen.map((one) => takeShares(one.source, one.rest, one.shares, one));
  const whole = taken.flatMap((part) => part ?? []);
  if (whole.length < taken.length) throw exceedsLine();
  if (fee > 0n && fee >= sum(whole.map(({ net }) => net))) throw brokenRule('fee', 'fee_exceeds_credit');
  return deductFee(whole, fee).map(({ people, ...part }, n) => {
    const { source, rest, shares, ...wanted } = itemAt(chosen, n);
    const weights = people.map(({ amount }) => amount);
    const amounts = split(part.net, weights);
    const line = toCreditLine(source, rest, part, wanted.vat);
    return { source, line, part: wanted, shares, people: people.map((one, n) => ({ ...one, amount: amounts[n]! })) };
  });
}

/** The lines of an order, with the creditable remainder of each and the shares of its participants. */
export async function findLines(w: SchoolWrite, orderId: number) {
  const found = await w.tx
    .select()
    .from(orderLines)
    .where(tenantWhere(w, orderLines, eq(orderLines.orderId, orderId)))
    .orderBy(asc(orderLines.id));
  const ids = found.map(({ id }) => id);
  const ofLines = tenantWhere(w, orderLines, hasAnyId(orderLines.creditsLineId, ids));
  const credits = ids.length === 0 ? [] : await w.tx.select().from(orderLines).where(ofLines);
  const byLine = grouped(credits, ({ creditsLineId }) => creditsLineId);
  const sharesByLine = await loadShares(w, orderId);
  return found.map((source) => {
    const rest = toRemainder(source, byLine.get(source.id) ?? []);
    return { source, rest, shares: adjustShares(sharesByLine.get(source.id) ?? [], rest.net) };
  });
}

const toRow = ({ source, line }: Credited) => ({
  product: source.productId,
  quantity: line.quantity,
  price: line.priceAtOrder,
  percent: line.discountPercentAtOrder,
  amount: line.discountAmountAtOrder,
  calculated: line.discountCalculatedAtOrder,
  vat: line.vatPercentage,
  credits: source.id,
  rounding: line.vatRounding,
});

const toNamed = ({ source, people }: Credited) =>
  people.map(({ id, amount, isCredited }) => ({
    ...{ line: source.id, participant: id, amount: toDecimal(-amount), isCredited },
  }));

const notValid = (field: string) => Problem.invalidFields({ notValid: [field] });
export const brokenRule = (field: string, code: ErrorCode) => Problem.invalidFields({ rules: { [field]: code } });

const nothingLeft = () => Problem.coded('nothing_left_to_credit', 'Nothing is left to credit');

const exceedsLine = () => Problem.coded('credit_exceeds_line', 'The credit exceeds what is left of a line');

/** Credits and differences that a write has made; a dry run has no ids. */
export async function readResultingOrders(reader: Ctx, ids: number[], isDryRun: boolean): Promise<ResultingOrder[]> {
  const results: ResultingOrder[] = [];
  for (const id of ids) {
    const order = await getOrder(reader, id, { include: ['credit', 'balance'] });
    const { credit, balance } = order as unknown as { credit: OrderCredit; balance: OrderBalance };
    const { kind, first_order_id } = credit;
    results.push({ ...(!isDryRun && { id }), kind, first_order_id, balance });
  }
  return results;
}
