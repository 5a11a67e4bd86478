import type { Static } from '@sinclair/typebox';
import { eq } from 'drizzle-orm';
import { Problem } from '../../../core/errors.ts';
import type { Areas } from '../../../database/areas.ts';
import type { Database, Tx, Write } from '../../../database/client.ts';
import { writeInBatches, type Ctx } from '../../../database/context.ts';
import { auditedJob, runEach } from '../../../database/periodic.ts';
import type { UnlockedStore } from '../../../database/reader.ts';
import { markedColumns } from '../../../database/tables/columns.ts';
import { customers } from '../../../database/tables/customers.ts';
import { erasures, mergedUsers } from '../../../database/tables/erasures.ts';
import { orders, payments } from '../../../database/tables/orders.ts';
import { participants } from '../../../database/tables/participants.ts';
import { courseUsers } from '../../../database/tables/users.ts';
import { bind, erasedValues, personalKeys, type Choice, type Person } from '../../../lists/personal-data.ts';
import { tenantWhere } from '../../../lists/tenant-scope.ts';
import { register } from '../register/schema.ts';
import { clearRows, countRows, deleteRows, replaceEvent } from '../register/service.ts';
import type { ErasureBody } from './body-schema.ts';
import { clearBooker, clearShared, keepBuyers, keepPayer } from './buyer-service.ts';
import { findPurchases, findUser, selectKept, selectOwn, toIds } from './person-service.ts';
import type { Purchase, Purchases, Retention, User } from './person-service.ts';
import { maxKept, type Erasure } from './schema.ts';
import { emptyAnswers, findAnswers, findDue, findKept, findListed, findMailNames, rememberListed } from './sql.ts';

const maxErased = 50_000;
/** Limits the time under the lock: more participants are cleared in writes of their own first. */
const sliceSize = 500;
const areas: Areas = ['people', 'money'];

/** Erases the personal data of a course user, whose places and amounts stay. `dry_run` counts and changes nothing. */
export async function eraseCourseUser(ctx: Ctx, userId: number, { dry_run = false }: ErasureBody) {
  const places = await ctx.unlockedStore.$count(
    participants,
    tenantWhere(ctx, participants, eq(participants.userId, userId)),
  );
  const answers = dry_run ? undefined : await findAnswersOfUser(ctx, userId);
  return writeInBatches(ctx, areas, async (w): Promise<Static<typeof Erasure> | undefined> => {
    const { tx } = w;
    const user = await findUser(tx, ctx, userId, true);
    if (!user) throw Problem.notFound('Course user');
    if (places > maxErased) throw Problem.coded('too_many_items', 'An erasure covers at most 50,000 participants');
    const stored: Record<string, unknown> = user;
    const isErased = user.erasedAt !== null && ofUser.every((key) => stored[key] === null);
    if (!dry_run && !isErased && (await clearSomePlaces(w, user)) === sliceSize) return undefined;
    const purchases = await findPurchases(tx, user, ctx.settings);
    const { person } = purchases;
    const counts = {
      ...(await countRows(tx, person)),
      orders: selectErasable(purchases.orders).length,
      customers: selectErasable(purchases.customers).length,
      mails: person.mails.length,
    };
    const kept = await findKeptItems(tx, user, purchases);
    const result = { id: userId, dry_run, ...counts, kept: kept.slice(0, maxKept), kept_total: kept.length };
    if (dry_run && !isErased) return tx.rollBack(result);

    const { others, names, ...changed } = await eraseItems(w, user, purchases, ctx.settings, answers);
    // Of an erased person only what has been added since counts.
    const repeated = { ...result, ...(isErased && changed) };
    const { mails, interests, sessions, links, webhook_attempts, import_refs } = repeated;
    const numItems =
      repeated.participants + repeated.orders + repeated.customers + others + mails + interests + import_refs;
    const isUnchanged = isErased && numItems + sessions + links + webhook_attempts === 0;
    if (dry_run || isUnchanged) return tx.rollBack(repeated);
    if (!isErased || numItems > 0) await record(w, user, names);
    return repeated;
  });
}

/** The username is replaced. */
const ofUser = personalKeys(courseUsers).filter((key) => key !== 'username');

/** Clears up to a slice of the person's participants, and returns their number. */
function clearSomePlaces({ tx, now }: Write, user: User) {
  const columns = markedColumns(participants, 'personal').join(', ');
  const isInSlice = bind(
    `id = any(array(select id from participants where provider_id = :providerId and user_id = :id
      and num_nonnulls(${columns}) > 0 order by id limit ${sliceSize}))`,
    user,
  );
  return tx.updateChanged(
    participants,
    tenantWhere(user, participants, isInSlice),
    erasedValues(register.participants),
    now,
  );
}

const selectErasable = (items: Purchase[]) => selectOwn(items).filter(({ isKept }) => !isKept);

type KeptItem = Static<typeof Erasure>['kept'][number];

/** The items that an erasure keeps, and payments of other orders whose reference has both names of the person. */
async function findKeptItems(tx: Tx, user: User, { orders, customers }: Purchases): Promise<KeptItem[]> {
  const unshared = selectOwn(orders).filter(({ isShared }) => !isShared);
  const isListed = bind(
    `reference is not null and (order_id = any(:kept::bigint[]) or order_id <> all(:unshared::bigint[])
      and strpos(lower(reference), lower(:firstname)) > 0 and strpos(lower(reference), lower(:lastname)) > 0
      and to_tsvector('simple', reference) @@ phraseto_tsquery('simple', :firstname::text || ' ' || :lastname::text))`,
    { ...user, kept: toIds(selectKept(orders)), unshared: toIds(unshared) },
  );
  const found = await tx
    .select({ id: payments.id, orderId: payments.orderId })
    .from(payments)
    .where(tenantWhere(user, payments, isListed))
    .orderBy(payments.id);
  const ofOrder = new Map(unshared.map((order) => [order.id, order]));
  const unknown = { isOwn: false, isKept: null, until: null };
  const paid = found.map(({ id, orderId }) => ({ ...unknown, ...ofOrder.get(orderId), id }));
  return [...toKeptItems('order', orders), ...toKeptItems('customer', customers), ...toKeptItems('payment', paid)];
}

const toKeptItems = (resource: KeptItem['resource'], items: Purchase[]): KeptItem[] =>
  items.flatMap(({ id, isOwn, isKept, until }): KeptItem[] => {
    if (!isOwn) return [{ resource, id, reason: 'other_buyer', until: null }];
    return isKept ? [{ resource, id, reason: 'invoice', until }] : [];
  });

type Answers = { before: string; keys: string[]; since: string };

/** Searches the stored answers without the lock, since it reads every one. */
async function findAnswersOfUser(ctx: Ctx, userId: number): Promise<Answers | undefined> {
  const user = await findUser(ctx.unlockedStore, ctx, userId);
  if (!user) return undefined;
  const { person } = await findPurchases(ctx.unlockedStore, user, ctx.settings);
  return { ...(await findAnswers.one(ctx.unlockedStore, toSearched(person, user))), since: ctx.version };
}

/** The ids and texts that answers about a person have, or about orders alone. */
function toSearched({ providerId, userId, orders }: Person, user?: User) {
  const { firstname, lastname, email } = user ?? { firstname: null, lastname: null, email: null };
  const toTexts = (...texts: (string | null)[]) => texts.filter((text): text is string => text !== null && text !== '');
  const name = firstname && lastname ? `${firstname} ${lastname}` : null;
  const texts = { whole: toTexts(email, name), first: toTexts(firstname), last: toTexts(lastname) };
  return { providerId, searched: { id: userId, orders, ...texts }, orders };
}

/** Deletes and clears the person's data; returns the numbers of changed rows and the names of deleted mails. */
async function eraseItems(w: Write, user: User, purchases: Purchases, { timezone }: Retention, answers?: Answers) {
  const { tx } = w;
  const { person } = purchases;
  const names = await findMailNames(tx, { providerId: person.providerId, ids: person.mails });
  await deleteRows(tx, person, 'erase');
  await emptyAnswers(tx, { ...toSearched(person, user), before: null, since: null, keys: [], ...answers });

  const select = (isSelected: (order: Purchases['orders'][number]) => boolean) =>
    selectOwn(purchases.orders).filter(isSelected);
  const unshared = select(({ isShared }) => !isShared);
  const unneeded = unshared.filter(({ isKept }) => !isKept);
  const chosen: Record<Choice, Partial<Person>> = {
    unshared: { orders: toIds(unshared) },
    unneeded: { orders: toIds(unneeded), customers: toIds(selectErasable(purchases.customers)) },
    private: { orders: toIds(unneeded.filter(({ isOfCompany }) => !isOfCompany)) },
  };
  const cleared = await clearRows(w, ({ of }) => ({ ...person, ...(of && chosen[of]) }));
  const { participants = 0, customers = 0, orders: ofPerson = 0, ...others } = cleared;
  const ofCompany = await clearBooker(w, user, toIds(unneeded.filter(({ isOfCompany }) => isOfCompany)));
  const shared = await clearShared(w, user, toIds(select(({ isShared }) => isShared)));
  const keptAndPaid = select(({ isKept, isPayer }) => isKept === true && isPayer);
  const kept = await keepPayer(w, user, toIds(keptAndPaid));
  const buyers = await keepBuyers(w, user, purchases, timezone);
  return {
    ...{ participants, customers, orders: ofPerson + ofCompany + shared },
    others: Object.values(others).reduce((sum, one) => sum + one, kept + buyers),
    names: names.map(({ name }) => name),
  };
}

/** Remembers the erasure of a course user, with those that were merged into the person. */
async function record({ tx, now }: Write, { providerId, id: userId, createdAt }: User, mails: string[]) {
  await tx
    .update(courseUsers)
    .set({ erasedAt: now, updatedAt: now })
    .where(tenantWhere({ providerId }, courseUsers, eq(courseUsers.id, userId)));
  const event = { resource: 'courseuser', change: 'erased', resourceId: userId } as const;
  await replaceEvent(tx, 'updated', { providerId, at: now, ...event });
  const merged = await tx
    .select({ userId: mergedUsers.userId, createdAt: mergedUsers.createdAt })
    .from(mergedUsers)
    .where(tenantWhere({ providerId }, mergedUsers, eq(mergedUsers.intoId, userId)));
  const all = [{ userId, createdAt, mails }, ...merged];
  await tx.insert(erasures).values(all.map((one) => ({ providerId, erasedAt: now, ...one })));
}

/** Erases the buyers that an invoice needs no longer, of all providers. */
export const eraseExpired = async (database: Database) =>
  runEach(await findDue(database.unlocked, {}), async ({ id }) => {
    while (await eraseSomeExpired(database, id)) continue;
  });

export const erasureJob = auditedJob('The erasure of buyers', 'erasure', 3_600_000, eraseExpired);

/** Searches a batch without the lock; false once nothing is due. */
async function eraseSomeExpired(database: Pick<Database, 'unlocked' | 'write'>, providerId: number) {
  const [due] = await findKept(database.unlocked, { providerId });
  if (due === undefined || due.orders.length + due.customers.length === 0) return false;
  const buyers: Person = { ...due, providerId, userId: 0, mails: [], isShared: false };
  const answers = await findAnswers.one(database.unlocked, toSearched(buyers));
  return database.write([providerId], areas, async (w) => {
    const { tx, now } = w;
    const select = async (table: typeof orders | typeof customers, ids: number[]) =>
      toIds(
        await tx
          .select({ id: table.id })
          .from(table)
          .where(tenantWhere(buyers, table, bind('id = any(:ids::bigint[]) and kept_until <= :now', { ids, now }))),
      );
    const cleared = {
      ...buyers,
      orders: await select(orders, due.orders),
      customers: await select(customers, due.customers),
    };
    await clearRows(w, ({ of }) => (of === 'unneeded' || of === 'private' ? cleared : undefined));
    await emptyAnswers(tx, { ...toSearched(cleared), ...answers, since: due.since });
    return cleared.orders.length + cleared.customers.length > 0 || tx.rollBack(false);
  });
}

/** An erasure that a list beside the backups has. */
type ErasureEntry = { provider: number; user?: number; created_at: string; erased_at: string; orders_kept?: boolean };

/** Erases those of a list that a restored backup still has, and remembers the whole list. Returns their number. */
export async function eraseAgain(
  on: UnlockedStore,
  to: Pick<Database, 'write'>,
  listed: ErasureEntry[],
  retention: Retention,
) {
  const list = listed.map((one) => ({ user: null, orders_kept: null, ...one }));
  const persons = await findListed(on, { list });
  for (const { providerId, userId } of persons)
    await to.write([providerId], areas, async (w) => {
      const { tx } = w;
      const user = await findUser(tx, { providerId }, userId);
      if (!user) return;
      tx.auditItem(userId);
      const { names } = await eraseItems(w, user, await findPurchases(tx, user, retention), retention);
      await record(w, user, names);
    });
  await rememberListed(on, { list });
  return persons.length;
}
