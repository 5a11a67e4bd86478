import { sum, type Minor } from '../../../core/money.ts';
import type { SchoolWrite } from '../../../database/context.ts';
import { grouped } from '../../../lists/relations.ts';
import { lineAmounts, split, toCreditLine, isCreditable, takeShares } from './line-service.ts';
import { creditOrder, findLines, findUnpaid, type CreditRequest } from './service.ts';
import { findCreditable, type CreditableLine } from './sql.ts';
type Part = NonNullable<CreditRequest['lines']>[number];
type Found = Awaited<ReturnType<typeof findLines>>[number];

/** Those who leave are credited in full, and those who left free of charge up to what is unpaid. */
type People = { leaving?: number[]; left?: number[] };

/** The orders to credit, with their creditable lines, and what is unpaid where somebody left before. */
export async function findCreditableOrders(w: SchoolWrite, { leaving = [], left = [] }: People) {
  const participantIds = [...leaving, ...left];
  const { providerId } = w;
  const found = participantIds.length === 0 ? [] : await findCreditable(w.tx, { providerId, participantIds });
  const byOrder = grouped(found, ({ orderId }) => orderId);
  const unpaid = left.length === 0 ? new Map<number, Minor>() : await findUnpaid(w, [...byOrder.keys()]);
  const isLeaving = new Set(leaving);
  return [...byOrder]
    .map(([orderId, lines]) => ({ orderId, lines, unpaid: unpaid.get(orderId) ?? 0n }))
    .filter(({ lines, unpaid }) => unpaid > 0n || lines.some(({ people }) => people.some((id) => isLeaving.has(id))));
}

type CreditableOrder = Awaited<ReturnType<typeof findCreditableOrders>>[number];

/** Credits the prices of participants, each order once if possible; returns the number of orders. */
export async function creditParticipants(w: SchoolWrite, people: People, reason: string | null) {
  const orders = await findCreditableOrders(w, people);
  for (const order of orders) await creditPlaces(w, people, order, reason ?? undefined);
  return orders.length;
}

/** Credits the prices of participants of an order; returns the ids of the credits. */
export async function creditPlaces(
  w: SchoolWrite,
  { leaving = [], left = [] }: People,
  { orderId, lines: creditable, unpaid }: CreditableOrder,
  reason?: string,
) {
  const known = new Map(creditable.map((line) => [line.lineId, line]));
  const found = await findLines(w, orderId);
  const toParts = (ids: number[]) => found.flatMap((one) => toPart(one, known.get(one.source.id), new Set(ids)));
  const whole = toParts(left);
  const limited = limitToUnpaid(whole, unpaid);
  const all = limited === whole ? [toParts([...leaving, ...left])] : [limited, toParts(leaving)];
  const requests = all.filter(({ length }) => length > 0);
  const ids: number[] = [];
  for (const lines of requests) {
    const request = { lines, reason, ...(requests.length === 1 && { found }) };
    ids.push((await creditOrder(w, orderId, request)).id);
  }
  return ids;
}

/** Credits places that are canceled free of charge, but for what is paid otherwise than by a voucher. */
export const creditUnpaid = (w: SchoolWrite, left: number[]) => creditParticipants(w, { left }, null);

/** The parts themselves if no more than this amount with VAT is to be credited, else lowered to it in proportion. */
function limitToUnpaid(parts: (Part & Found)[], unpaid: Minor): Part[] {
  const amounts = parts.map((part) => {
    const { source, rest, shares } = part;
    const { net, vat } = lineAmounts(toCreditLine(source, rest, takeShares(source, rest, shares, part)!));
    return [-net, -vat];
  });
  const whole = amounts.map(sum);
  if (sum(whole) <= unpaid) return parts;
  return split(unpaid, whole).flatMap((gross, n) => {
    const [amount, vat] = split(gross, amounts[n]!);
    return amount! > 0n ? [{ ...parts[n]!, amount, vat }] : [];
  });
}

/** The part of a line to credit: what is left of it if it names nobody, else of the shares of these people. */
function toPart(found: Found, line: CreditableLine | undefined, ids: Set<number>): (Part & Found)[] {
  const people = new Set(line?.people.filter((id) => ids.has(id)));
  if (people.size === 0) return [];
  const part = { ...found, lineId: found.source.id };
  if (found.shares.length === 0) return [part];
  const participantIds = found.shares.flatMap((one) => (isCreditable(one) && people.has(one.id) ? [one.id] : []));
  return participantIds.length > 0 ? [{ ...part, participantIds }] : [];
}
