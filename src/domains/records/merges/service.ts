import type { Static } from '@sinclair/typebox';
import { eq, getTableColumns, inArray, not, sql, type SQL } from 'drizzle-orm';
import type { PgColumn, PgTable } from 'drizzle-orm/pg-core';
import { itemAt, Problem } from '../../../core/errors.ts';
import { notLeftSql } from '../../../core/reference/statuses.ts';
import { isFields } from '../../../core/schema/coercion.ts';
import { byName } from '../../../core/schema/types.ts';
import type { Areas } from '../../../database/areas.ts';
import type { Reader, Tx, Write } from '../../../database/client.ts';
import { writeInBatches, type Ctx, type WriteCtx } from '../../../database/context.ts';
import { campaignCustomers } from '../../../database/tables/campaigns.ts';
import { courses } from '../../../database/tables/courses.ts';
import { customers } from '../../../database/tables/customers.ts';
import { mergedUsers } from '../../../database/tables/erasures.ts';
import { aboutItem, idempotencyRecords, itemMembers } from '../../../database/tables/idempotency.ts';
import { importRefs } from '../../../database/tables/imports.ts';
import { orders } from '../../../database/tables/orders.ts';
import { outbox } from '../../../database/tables/outbox.ts';
import { participants } from '../../../database/tables/participants.ts';
import { courseUsers } from '../../../database/tables/users.ts';
import { bind, rowsOf, type Person } from '../../../lists/personal-data.ts';
import { defineReferences } from '../../../lists/references.ts';
import { tenantWhere, type TenantTable } from '../../../lists/tenant-scope.ts';
import { replaceOfferLinks } from '../../messages/links/service.ts';
import { getCustomer } from '../../people/customer-list/service.ts';
import { getCourseUser } from '../../people/users/service.ts';
import { register } from '../register/schema.ts';
import { countRows, deleteRows, moveRows, replaceEvent } from '../register/service.ts';
import type { MergeBody } from './body-schema.ts';
import type { CourseUserMerge, CustomerMerge } from './schema.ts';
import { moveInterests, moveParent, moveSomeCampaigns, updateAnswers } from './sql.ts';

export const courseUserMergeReferences = defineReferences<MergeBody>({ into: courseUsers.id });
export const customerMergeReferences = defineReferences<MergeBody>({ into: customers.id });

const maxMoved = 50_000;
/** Limits the time under the lock: a merge of more moves them in several writes. */
const sliceSize = 500;

type Resource = keyof typeof itemMembers;
type Ids = { providerId: number; id: number; into: number };
type Kind<Counts> = {
  notFound(): Problem;
  resource: Resource;
  /** Kind of the refs of imports. */
  importKind: string;
  areas: Areas;
  table: TenantTable;
  isErased: SQL<boolean>;
  /** True for the items that may be merged. */
  condition?: SQL;
  count(db: Reader, ids: Ids): Promise<Counts>;
  counted: readonly (keyof Counts)[];
  /** Members of a dry run alone. */
  preview?(tx: Tx, ids: Ids): Promise<object>;
  /** Moves up to `limit` items, and returns their number. */
  moveSome(w: WriteCtx, ids: Ids, limit: number): Promise<number>;
  /** Moves the items that are not counted. */
  finish?(w: Write, ids: Ids): Promise<void>;
  read(ctx: Ctx, id: number): Promise<object>;
};

/** Merges an item into another one. A repeated request continues what was interrupted between two slices. */
async function merge<Counts extends Record<string, number>>(
  kind: Kind<Counts>,
  ctx: Ctx,
  id: number,
  { into, dry_run = false }: MergeBody,
) {
  const { table, resource } = kind;
  const ids: Ids = { providerId: ctx.providerId, id, into };
  // Without the lock, since these read every item and answer.
  const before = await kind.count(ctx.unlockedStore, ids);
  const isAbout = tenantWhere(ctx, idempotencyRecords, bind(isAnswerAbout(resource), ids));
  const answers = ctx.unlockedStore.select({ key: idempotencyRecords.keyHash }).from(idempotencyRecords).where(isAbout);
  const keys = dry_run ? [] : (await answers).map(({ key }) => key);
  const numMoved = kind.counted.reduce((sum, name) => sum + before[name]!, 0);
  let counts = dry_run || numMoved > sliceSize ? before : undefined;
  return writeInBatches(ctx, kind.areas, async (w) => {
    const { tx, now } = w;
    // Locked, so that no session or link of a person begins meanwhile.
    const found = await tx
      .select({ id: table.id, isErased: kind.isErased })
      .from(table)
      .where(tenantWhere(ctx, table, inArray(table.id, [id, into]), kind.condition))
      .orderBy(table.id)
      .for('update');
    const [merged, staying] = [id, into].map((one) => found.find((row) => row.id === one));
    if (!merged) throw kind.notFound();
    if (id === into) throw Problem.invalidFields({ rules: { into: 'same_item' } });
    if (!staying) throw Problem.invalidFields({ notValid: ['into'] });
    if (staying.isErased) throw Problem.invalidFields({ rules: { into: 'person_erased' } });
    // Its places would be those of a known person again.
    if (merged.isErased) throw Problem.coded('person_erased', 'The course user is erased and cannot be merged');
    if (numMoved > maxMoved) throw Problem.coded('too_many_items', 'A merge moves at most 50,000 items');

    counts ??= await kind.count(tx, ids);
    const result = { id, into, dry_run, ...counts };
    if (dry_run) return tx.rollBack({ ...result, ...(await kind.preview?.(tx, ids)) });

    tx.auditItem(into);
    if ((await kind.moveSome(w, ids, sliceSize)) === sliceSize) return undefined;
    if ((await replaceInAnswers(kind, w, ids, keys)) === sliceSize) return undefined;
    await kind.finish?.(w, ids);
    // An import that continues finds the one that stays.
    const isRef = tenantWhere(ctx, importRefs, eq(importRefs.kind, kind.importKind), eq(importRefs.itemId, id));
    await tx.update(importRefs).set({ itemId: into }).where(isRef);
    await tx.delete(table).where(tenantWhere(ctx, table, eq(table.id, id)));
    const event = { resource, change: 'merged', resourceId: id, intoId: into } as const;
    await replaceEvent(tx, 'deleted', { providerId: ctx.providerId, at: now, ...event });
    return result;
  });
}

const isAnswerAbout = (resource: Resource) =>
  `jsonb_path_exists(answer, '${aboutItem(resource)})', jsonb_build_object('id', :id::bigint))`;

/** Replaces the merged one in a slice of stored answers, found and later ones; returns their number. */
async function replaceInAnswers(
  { resource, read }: Pick<Kind<object>, 'resource' | 'read'>,
  w: WriteCtx,
  ids: Ids,
  keys: string[],
) {
  const { id, into } = ids;
  const isLater = 'case when created_at > :version or key_hash = any(:keys::text[]) then';
  const isFound = bind(`${isLater} ${isAnswerAbout(resource)} end`, { ...ids, version: w.version, keys });
  const found = await w.tx
    .select({ key: idempotencyRecords.keyHash, answer: idempotencyRecords.answer })
    .from(idempotencyRecords)
    .where(tenantWhere(w, idempotencyRecords, isFound))
    .limit(sliceSize);
  if (found.length === 0) return 0;
  const staying = await read({ ...w, db: w.tx }, into);
  const { mark, reference } = itemMembers[resource];
  const replace = (_name: string, value: unknown) => {
    if (!isFields(value)) return value;
    if (value['id'] === id && value[mark] !== undefined) return staying;
    return value[reference] === id ? { ...value, [reference]: into } : value;
  };
  const answers = JSON.parse(JSON.stringify(found, replace)) as typeof found;
  await updateAnswers(w.tx, { providerId: w.providerId, answers, now: w.now });
  return found.length;
}

type Column<T = PgTable & { providerId: PgColumn }> = [table: T, key: string];
const isOf = ([table, key]: Column, { providerId, id }: Ids) =>
  tenantWhere({ providerId }, table, eq(getTableColumns(table)[key]!, id));

/** Moves up to `limit` rows. An array, not a join: without statistics that could read the whole table. */
async function moveSlice({ tx, now }: Write, moved: Column<TenantTable>, ids: Ids, limit: number) {
  const [table, key] = moved;
  const some = tx.select({ id: table.id }).from(table).where(isOf(moved, ids)).orderBy(table.id).limit(limit);
  const isSome = tenantWhere(ids, table, sql`${table.id} = any(array(${some}))`);
  const set = { [key]: ids.into, updatedAt: now };
  return tx.update(table).set(set).where(isSome).returning({ id: table.id });
}

const toPerson = ({ providerId, id }: Ids): Person => ({
  providerId,
  userId: id,
  ...{ orders: [], customers: [], mails: [], isShared: false },
});

async function countOfUser(db: Reader, ids: Ids) {
  const person = toPerson(ids);
  const isBooked = `id in (select b.order_id from participants p join bookings b on b.provider_id = :providerId and b.id = p.booking_id
    where p.provider_id = :providerId and p.user_id = :userId)`;
  const { participants: places, attendances, sessions, links } = await countRows(db, person);
  const bought = await db.$count(orders, rowsOf({ table: orders, find: isBooked }, person));
  return { participants: places, orders: bought, attendances, sessions, links };
}

/** The dates on which both have a place. */
async function findSharedDates(tx: Tx, ids: Ids) {
  const isShared = `user_id = :id and ${notLeftSql('participants')} and exists (
    select from participants o where o.provider_id = :providerId and o.course_date_id = participants.course_date_id
      and o.user_id = :into and ${notLeftSql('o')})`;
  const dates = await tx
    .selectDistinct({ id: participants.courseDateId })
    .from(participants)
    .where(tenantWhere(ids, participants, bind(isShared, ids)))
    .orderBy(participants.courseDateId)
    .limit(1_000);
  return { coursedate_ids: dates.map((date) => date.id) };
}

/** Moves the participants, and ends the sessions, links and password of the merged person. */
export const mergeCourseUser = (ctx: Ctx, id: number, body: MergeBody): Promise<Static<typeof CourseUserMerge>> =>
  merge(
    {
      notFound: () => Problem.notFound('Course user'),
      ...{ resource: 'courseuser', importKind: 'user', areas: ['people'] },
      ...{ table: courseUsers, condition: not(courseUsers.isPlaceholder) },
      isErased: sql`${courseUsers.erasedAt} is not null`,
      ...{ count: countOfUser, counted: ['participants'], preview: findSharedDates },
      async moveSome(w, ids, limit) {
        const moved = await moveSlice(w, [participants, register.participants.merge[0]!], ids, limit);
        const places = moved.map((participant) => participant.id);
        // Mails move with the participant, so that none offers a moved one to the merged person.
        await moveRows(w, ids, [register.mails], bind('participant_id = any(:places::bigint[])', { places }));
        await replaceOfferLinks(w, body.into, places);
        return moved.length;
      },
      async finish(w, ids) {
        const { tx } = w;
        const { providerId, into: intoId } = ids;
        // Links before mails, whose keys they have.
        await deleteRows(tx, toPerson(ids), 'merge');
        const isInvitation = `user_id = :id and purpose = 'account_created' and sent_at is null`;
        await tx.delete(outbox).where(tenantWhere(ids, outbox, bind(isInvitation, ids)));
        await moveRows(w, ids);
        await moveInterests(tx, ids);
        // For an erasure of the one that stays, in backups that still have the merged one.
        await tx
          .update(mergedUsers)
          .set({ intoId })
          .where(tenantWhere(ids, mergedUsers, eq(mergedUsers.intoId, id)));
        const createdAt = bind(
          '(select created_at from course_users where provider_id = :providerId and id = :id)',
          ids,
        );
        await tx.insert(mergedUsers).values({ providerId, userId: id, createdAt, intoId });
      },
      read: getCourseUser,
    },
    ctx,
    id,
    body,
  );

/** Children after `moveParent`. */
const ofCustomer: Record<string, Column<TenantTable>> = {
  employees: [courseUsers, 'customerId'],
  courses: [courses, 'customerId'],
  orders: [orders, 'customerId'],
  customers: [customers, 'parentCustomerId'],
};
const counted = ['employees', 'customers', 'courses', 'campaigns', 'orders'] as const;

async function countOfCustomer(db: Reader, ids: Ids) {
  const all: Record<string, Column> = { ...ofCustomer, campaigns: [campaignCustomers, 'customerId'] };
  const count = byName(counted, (name) => sql<number>`${db.$count(all[name]![0], isOf(all[name]!, ids))}`);
  return itemAt(await db.select(count).from(sql`(select) one`));
}

/** Moves employees, child customers, corporate courses, agreements and orders. */
export const mergeCustomer = (ctx: Ctx, id: number, body: MergeBody): Promise<Static<typeof CustomerMerge>> =>
  merge(
    {
      notFound: () => Problem.notFound('Customer'),
      ...{ resource: 'customer', importKind: 'customer', areas: ['people', 'catalog', 'money'] },
      ...{ table: customers, isErased: sql`false`, count: countOfCustomer, counted },
      async moveSome(w, ids, limit) {
        const { tx, now } = w;
        await moveParent(tx, { ...ids, now });
        let moved = 0;
        for (const one of Object.values(ofCustomer)) moved += (await moveSlice(w, one, ids, limit - moved)).length;
        return moved + (await moveSomeCampaigns(tx, { ...ids, now, limit: limit - moved })).length;
      },
      read: (reader, into) => getCustomer(reader, into, {}),
    },
    ctx,
    id,
    body,
  );
