import type { Static } from '@sinclair/typebox';
import { Problem } from '../../../core/errors.ts';
import type { Settings } from '../../../core/settings.ts';
import type { Areas } from '../../../database/areas.ts';
import type { Database, Tx } from '../../../database/client.ts';
import { writeInSlices, type Ctx } from '../../../database/context.ts';
import { auditedJob, runEach } from '../../../database/periodic.ts';
import { execute, type Queryable, type Statement } from '../../../database/statements.ts';
import { endSessions } from '../../school/auth/session-service.ts';
import type { ErasureBody } from './body-schema.ts';
import * as copySql from './list-sql.ts';
import { findDue, findKept, findListed, rememberListed } from './list-sql.ts';
import { maxKept, type Erasure } from './schema.ts';
import * as mailSql from './mail-sql.ts';
import { clearShared, keepOrders, keepPayer } from './payer-sql.ts';
import * as sql from './sql.ts';

type Person = { providerId: number; userId: number };
export type Retention = Pick<Settings, 'timezone' | 'invoiceRetentionYears'>;

const maxErased = 50_000;
/** Limits the time under the lock: more participants are cleared in writes of their own first. */
const sliceSize = 500;
const areas: Areas = ['people', 'money'];

/** An order or a customer of the person; `isOwn`: the person is the buyer, whom an invoice needs while `isKept`. */
type Purchase = {
  id: number;
  isOwn: boolean;
  isKept: boolean | null;
  until: string | null;
  /** Of an order: a company pays. */
  isOfCompany?: boolean;
  /** Of an order: its invoice has the name of the person. */
  isPayer?: boolean;
  /** Of an order without an invoice: another person of it pays next. */
  isShared?: boolean;
};

/** The orders of the person, and the private customers. */
export async function findPurchases(on: Queryable, { providerId, userId }: Person, retention: Retention) {
  const values = [providerId, userId, retention.timezone, retention.invoiceRetentionYears ?? 5];
  const orders = await execute<Purchase>(on, sql.findOrders, values);
  const ids = toIds(orders.filter(({ isOwn }) => isOwn));
  const customers = await execute<Purchase>(on, sql.findCustomers, [...values, ids]);
  return { orders, customers };
}
const toIds = (items: { id: number }[]) => items.map(({ id }) => id);

/** The mails that an erasure deletes. */
export const findMailIds = async (on: Queryable, { providerId, userId }: Person, { orders }: Purchases) =>
  toIds(await execute<{ id: number }>(on, mailSql.findMails, [providerId, userId, toIds(selectOwn(orders))]));

/** Erases the personal data of a course user, whose places and amounts stay. `dry_run` counts and changes nothing. */
export async function eraseCourseUser(ctx: Ctx, userId: number, { dry_run = false }: ErasureBody) {
  const person = { providerId: ctx.providerId, userId };
  const before = await countItems(ctx.unlockedStore, person, { orders: [], customers: [] });
  const answers = dry_run ? undefined : await findAnswers(ctx, person);
  return writeInSlices(ctx, areas, async (tx, now): Promise<Static<typeof Erasure> | undefined> => {
    const [found] = await execute<{ isErased: boolean }>(tx, sql.lockPerson, [ctx.providerId, userId]);
    if (!found) throw Problem.notFound('Course user');
    if (before.participants > maxErased)
      throw Problem.coded('too_many_items', 'An erasure covers at most 50,000 participants');
    if (!dry_run && !found.isErased) {
      const slice = await execute(tx, sql.clearParticipants, [ctx.providerId, userId, now, sliceSize]);
      if (slice.length === sliceSize) return undefined;
    }
    const purchases = await findPurchases(tx, person, ctx.settings);
    const counts = await countItems(tx, person, purchases);
    const kept = await findKeptItems(tx, person, purchases);
    const result = { id: userId, dry_run, ...counts, kept: kept.slice(0, maxKept), kept_total: kept.length };
    if (dry_run && !found.isErased) return tx.rollbackNoChange(result);

    const { others, mails, ...changed } = await eraseItems(tx, now, person, purchases, ctx.settings, answers);
    // Of an erased person only what has been added since counts.
    const repeated = { ...result, ...(found.isErased && changed) };
    const { participants, orders, customers, interests, sessions, links, webhook_attempts, import_refs } = repeated;
    const numItems = participants + orders + customers + others + mails.length + interests + import_refs;
    const isUnchanged = found.isErased && numItems + sessions + links + webhook_attempts === 0;
    if (dry_run || isUnchanged) return tx.rollbackNoChange(repeated);
    if (!found.isErased || numItems > 0) await record(tx, now, person, mails);
    return repeated;
  });
}

type Purchases = Awaited<ReturnType<typeof findPurchases>>;

const selectOwn = (items: Purchase[]) => items.filter(({ isOwn }) => isOwn);
const selectKept = (items: Purchase[]) => selectOwn(items).filter(({ isKept }) => isKept);
const selectUnshared = (items: Purchase[]) => selectOwn(items).filter(({ isShared }) => !isShared);
const selectErasable = (items: Purchase[]) => selectOwn(items).filter(({ isKept }) => !isKept);

async function countItems(on: Queryable, { providerId, userId }: Person, { orders, customers }: Purchases) {
  const values = [providerId, userId, toIds(selectOwn(orders)), toIds(selectOwn(customers))];
  type Counts = Omit<Static<typeof Erasure>, 'id' | 'dry_run' | 'orders' | 'customers' | 'kept' | 'kept_total'>;
  const [counts] = await execute<Counts>(on, sql.count, values);
  return { ...counts!, orders: selectErasable(orders).length, customers: selectErasable(customers).length };
}

type KeptItem = Static<typeof Erasure>['kept'][number];

async function findKeptItems(on: Queryable, { providerId, userId }: Person, purchases: Purchases): Promise<KeptItem[]> {
  const { orders, customers } = purchases;
  const values = [providerId, userId, toIds(selectKept(orders)), toIds(selectUnshared(orders))];
  const found = await execute<{ id: number; orderId: number }>(on, sql.findReferences, values);
  const ofOrder = new Map(selectUnshared(orders).map((order) => [order.id, order]));
  const unknown = { isOwn: false, isKept: null, until: null };
  const payments = found.map(({ id, orderId }) => ({ ...unknown, ...ofOrder.get(orderId), id }));
  return [...toKeptItems('order', orders), ...toKeptItems('customer', customers), ...toKeptItems('payment', payments)];
}

const toKeptItems = (resource: KeptItem['resource'], items: Purchase[]): KeptItem[] =>
  items.flatMap(({ id, isOwn, isKept, until }): KeptItem[] => {
    if (!isOwn) return [{ resource, id, reason: 'other_buyer', until: null }];
    return isKept ? [{ resource, id, reason: 'invoice', until }] : [];
  });

type Answers = { searched: string; keys: string[]; since: string };

/** Without the lock, since it reads every answer. */
async function findAnswers({ unlockedStore, settings, version }: Ctx, person: Person): Promise<Answers> {
  const { orders } = await findPurchases(unlockedStore, person, settings);
  return searchAnswers(unlockedStore, person, toIds(selectOwn(orders)), version);
}

async function searchAnswers(on: Queryable, { providerId, userId }: Person, orders: number[], since: string) {
  const [found] = await execute<Omit<Answers, 'since'>>(on, copySql.findAnswers, [providerId, userId, orders]);
  return { ...found!, since };
}

/** Deletes what repeats the data of the person. Returns the names of the deleted mails. */
async function deleteCopies(tx: Tx, person: Person, { orders, customers }: Purchases, answers?: Answers) {
  const { providerId, userId } = person;
  const own = [providerId, userId];
  const items = [...own, toIds(selectOwn(orders)), toIds(selectOwn(customers))];
  await endSessions(person, tx, userId);
  await execute(tx, copySql.deleteSignOnFailures, own);
  // Links before mails, whose keys they have.
  await execute(tx, mailSql.deleteLinks, items.slice(0, 3));
  const mails = await execute<{ name: string }>(tx, mailSql.deleteMails, items.slice(0, 3));
  await execute(tx, mailSql.deleteRefusedAddress, own);
  await execute(tx, mailSql.deleteInterests, own);
  await execute(tx, sql.deleteAttempts, items);
  await execute(tx, copySql.emptyAnswers, [...items.slice(0, 3), answers?.searched, answers?.since, answers?.keys]);
  await execute(tx, mailSql.deletePosts, items.slice(0, 3));
  await execute(tx, copySql.deleteStagedLines, [providerId]);
  await execute(tx, sql.hashRefs, items);
  return mails.map(({ name }) => name);
}

type Changed = Record<'participants' | 'orders' | 'customers' | 'others', number>;

/**
 * Deletes copies, and clears the personal columns of the participants, orders and customers. Returns the numbers of changed
 * rows, and the names of the deleted mails.
 */
async function eraseItems(
  tx: Tx,
  now: string,
  person: Person,
  purchases: Purchases,
  { timezone }: Retention,
  answers?: Answers,
) {
  const { providerId, userId } = person;
  const { orders, customers } = purchases;
  const mails = await deleteCopies(tx, person, purchases, answers);
  const isOfCompany = (order: Purchase) => order.isOfCompany === true;
  const erasable = selectUnshared(orders).filter(({ isKept }) => !isKept);
  const own = [providerId, userId];
  const statements: [keyof Changed, Statement, unknown[]][] = [
    ['participants', sql.clearParticipants, [...own, now, null]],
    ['others', sql.clearNonces, own],
    ['others', sql.clearBookings, [providerId, toIds(selectUnshared(orders)), now]],
    ['others', sql.clearReferences, [providerId, toIds(erasable), now]],
    ['orders', sql.clearOrders, [providerId, toIds(erasable.filter((order) => !isOfCompany(order))), now]],
    ['orders', sql.clearBooker, [...own, toIds(erasable.filter(isOfCompany)), now]],
    ['orders', clearShared, [...own, toIds(selectOwn(orders).filter(({ isShared }) => isShared)), now]],
    ['others', keepPayer, [...own, toIds(selectKept(orders).filter(({ isPayer }) => isPayer)), now]],
    ['others', keepOrders, [providerId, ...toDeadlines(orders), timezone, userId]],
    ['customers', sql.clearCustomers, [providerId, toIds(selectErasable(customers)), now]],
    ['others', sql.keepCustomers, [providerId, ...toDeadlines(customers), timezone, now]],
  ];
  const changed: Changed = { participants: 0, orders: 0, customers: 0, others: 0 };
  for (const [item, statement, values] of statements)
    changed[item] += (await tx.$client.query({ ...statement, values })).rowCount ?? 0;
  return { ...changed, mails };
}

/** Clears the course user, and remembers the erasure. */
async function record(tx: Tx, now: string, { providerId, userId }: Person, mails: string[]) {
  const own = [providerId, userId];
  await execute(tx, sql.clearUser, [...own, now]);
  await execute(tx, sql.recordErased, [...own, now]);
  await execute(tx, sql.rememberErasure, [...own, now, mails]);
}

const toDeadlines = (items: Purchase[]) => {
  const kept = selectKept(items);
  return [toIds(kept), kept.map(({ until }) => until)];
};

/** The buyers that an invoice needs no longer, of all providers. */
export async function eraseKept(database: Database) {
  const due = await execute<{ id: number }>({ $client: database.pool }, findDue, []);
  await runEach(due, async ({ id }) => {
    while (await eraseSomeKept(database, id)) continue;
  });
}

export const erasureJob = auditedJob('The erasure of buyers', 'erasure', 3_600_000, eraseKept);

/** Searches a batch without the lock; false once nothing is due. */
async function eraseSomeKept(database: Pick<Database, 'pool' | 'write'>, providerId: number) {
  const on: Queryable = { $client: database.pool };
  const [due] = await execute<{ orders: number[]; customers: number[]; since: string }>(on, findKept, [providerId]);
  if (due === undefined || due.orders.length + due.customers.length === 0) return false;
  const { searched, keys, since } = await searchAnswers(on, { providerId, userId: 0 }, due.orders, due.since);
  return database.write([providerId], areas, async (tx, now) => {
    const values = [providerId, now, due.orders];
    const cleared = new Set(toIds(await execute<{ id: number }>(tx, sql.clearKeptOrders, values)));
    const orders = due.orders.filter((id) => cleared.has(id));
    await execute(tx, copySql.emptyAnswers, [providerId, 0, orders, searched, since, keys]);
    const customers = await tx.$client.query({ ...sql.clearKeptCustomers, values: [providerId, now, due.customers] });
    return orders.length + (customers.rowCount ?? 0) > 0 || tx.rollbackNoChange(false);
  });
}

/** An erasure that a list beside the backups has. */
type ErasureEntry = { provider: number; user?: number; created_at: string; erased_at: string };

/** Erases those of a list that a restored backup still has, and remembers the whole list. Returns their number. */
export async function eraseAgain(
  on: Queryable,
  to: Pick<Database, 'write'>,
  list: ErasureEntry[],
  retention: Retention,
) {
  const rows = JSON.stringify(list);
  const persons = await execute<Person>(on, findListed, [rows]);
  for (const person of persons)
    await to.write([person.providerId], areas, async (tx, now) => {
      tx.recordAffected(person.userId);
      const purchases = await findPurchases(tx, person, retention);
      const { mails } = await eraseItems(tx, now, person, purchases, retention);
      await record(tx, now, person, mails);
    });
  await execute(on, rememberListed, [rows]);
  return persons.length;
}
