import type { Static } from '@sinclair/typebox';
import { Problem } from '../../core/errors.ts';
import type { Areas } from '../../database/areas.ts';
import type { Tx } from '../../database/client.ts';
import { writeInSlices, type Ctx } from '../../database/context.ts';
import { execute, type Queryable, type Statement } from '../../database/statements.ts';
import { customers } from '../../database/tables/customers.ts';
import { courseUsers } from '../../database/tables/users.ts';
import { defineReferences } from '../../lists/references.ts';
import { endSessions } from '../auth/session-service.ts';
import { replaceOfferLinks } from '../links/service.ts';
import { getCourseUser } from '../users/service.ts';
import type { MergeBody } from './body-schema.ts';
import type { CourseUserMerge, CustomerMerge } from './schema.ts';
import * as sql from './sql.ts';

export const courseUserMergeReferences = defineReferences<MergeBody>({ into: courseUsers.id });
export const customerMergeReferences = defineReferences<MergeBody>({ into: customers.id });

const maxMoved = 50_000;
/** Limits the time under the lock: a merge of more moves them in writes of their own first. */
const sliceSize = 500;

/** `slices` move up to `$5` items each, for `sliceSize`. `move` moves everything of the merged one, and deletes it. */
type Kind = {
  notFound(): Problem;
  resource: 'courseuser' | 'customer';
  areas: Areas;
  lock: Statement;
  count: Statement;
  counted: string[];
  slices: Statement[];
  /** Members of a dry run alone. */
  preview?(tx: Tx, ids: Ids): Promise<object>;
  /** What needs the items to be those of the merged one, before a slice too. */
  prepare?(tx: Tx, now: string): Promise<unknown>;
  move(tx: Tx, ids: Ids, now: string): Promise<void>;
};
type Ids = [providerId: number, id: number, into: number];

/** `dry_run` counts and changes nothing. A repeated request continues what was interrupted between two slices. */
async function merge<Counts extends object>(kind: Kind, ctx: Ctx, id: number, { into, dry_run = false }: MergeBody) {
  const ids: Ids = [ctx.providerId, id, into];
  const count = async (on: Queryable) => {
    const [counts] = await execute<Record<string, number>>(on, kind.count, [ctx.providerId, id]);
    return { counts: counts!, moved: kind.counted.reduce((sum, name) => sum + counts![name]!, 0) };
  };
  // Without the lock, since it reads every item.
  const before = dry_run ? undefined : await count(ctx.unlockedStore);
  const isSliced = before !== undefined && before.moved > sliceSize && before.moved <= maxMoved;
  const moveSlice = async (tx: Tx, now: string) => {
    let moved = 0;
    tx.recordAffected(into);
    await kind.prepare?.(tx, now);
    for (const one of kind.slices) moved += (await execute(tx, one, [...ids, now, sliceSize])).length;
    return moved;
  };
  const work = async (tx: Tx, now: string) => {
    const found = await execute<{ id: number; is_erased?: boolean }>(tx, kind.lock, ids);
    const [merged, staying] = [id, into].map((one) => found.find((row) => row.id === one));
    if (!merged) throw kind.notFound();
    if (id === into || !staying || staying.is_erased) throw Problem.invalidFields({ notValid: ['into'] });
    // Its places would be those of a known person again.
    if (merged.is_erased) throw new Problem('invalid', 'The course user is erased and cannot be merged');

    if (isSliced && (await moveSlice(tx, now)) > 0) return undefined;
    const { counts, moved } = await count(tx);
    if (moved > maxMoved) throw new Problem('invalid', 'A merge moves at most 50,000 items');
    const result = { id, into, dry_run, ...(isSliced ? before.counts : counts) } as {
      id: number;
      into: number;
      dry_run: boolean;
    } & Counts;
    if (dry_run) return tx.rollbackNoChange({ ...result, ...(await kind.preview?.(tx, ids)) });

    tx.recordAffected(into);
    await kind.prepare?.(tx, now);
    await kind.move(tx, ids, now);
    await execute(tx, sql.recordMerge(kind.resource), [...ids, now]);
    return result;
  };
  return writeInSlices(ctx, kind.areas, work);
}

/** Moves the participants, and ends the sessions, links and password of the merged person. */
export const mergeCourseUser = (ctx: Ctx, id: number, body: MergeBody) =>
  merge<Static<typeof CourseUserMerge>>(
    {
      notFound: () => Problem.notFound('Course user'),
      resource: 'courseuser',
      areas: ['people'],
      lock: sql.lockCourseUsers,
      count: sql.countCourseUserItems,
      counted: ['participants'],
      slices: [sql.moveSomeParticipants],
      async preview(tx, ids) {
        const dates = await execute<{ id: number }>(tx, sql.findSharedDates, ids);
        return { coursedate_ids: dates.map((date) => date.id) };
      },
      prepare: (tx, now) => replaceOfferLinks(ctx, tx, now, id),
      async move(tx, ids, now) {
        const own = ids.slice(0, 2);
        await execute(tx, sql.moveParticipants, [...ids, now]);
        // Links before mails, whose keys they have.
        await execute(tx, sql.deleteTokens, own);
        await endSessions(ctx, tx, id);
        await execute(tx, sql.deleteInvitations, own);
        await execute(tx, sql.moveMails, ids);
        await execute(tx, sql.moveInterests, ids);
        await execute(tx, sql.moveImportRefs('user'), ids);
        await execute(tx, sql.rememberMerge, ids);
        await execute(tx, sql.deleteCourseUser, own);
        await replaceInAnswers(ctx, tx, id, body.into);
      },
    },
    ctx,
    id,
    body,
  );

/** So that the repetition of a request shows the one that stays. */
async function replaceInAnswers(ctx: Ctx, tx: Tx, id: number, into: number) {
  const answers = await execute<{ key: string; answer: unknown }>(tx, sql.findAnswers, [ctx.providerId, id]);
  if (answers.length === 0) return;
  const staying = await getCourseUser({ ...ctx, db: tx }, into);
  const replace = (_name: string, value: unknown) => {
    if (typeof value !== 'object' || value === null) return value;
    if ('username' in value && 'id' in value && value.id === id) return staying;
    return 'user_id' in value && value.user_id === id ? { ...value, user_id: into } : value;
  };
  for (const { key, answer } of answers)
    await execute(tx, sql.updateAnswer, [ctx.providerId, key, JSON.stringify(answer, replace)]);
}

/** Moves employees, child customers, corporate courses, agreements and orders. */
export const mergeCustomer = (ctx: Ctx, id: number, body: MergeBody) =>
  merge<Static<typeof CustomerMerge>>(
    {
      notFound: () => Problem.notFound('Customer'),
      resource: 'customer',
      areas: ['people', 'catalog', 'money'],
      lock: sql.lockCustomers,
      count: sql.countCustomerItems,
      counted: ['employees', 'customers', 'courses', 'campaigns', 'orders'],
      slices: [sql.moveSomeEmployees, sql.moveSomeOrders],
      async move(tx, ids, now) {
        const own = ids.slice(0, 2);
        for (const statement of [sql.moveEmployees, sql.moveCourses, sql.moveOrders, sql.moveParent, sql.moveChildren])
          await execute(tx, statement, [...ids, now]);
        await execute(tx, sql.touchCampaigns, [...own, now]);
        await execute(tx, sql.copyCampaignLinks, ids);
        await execute(tx, sql.deleteCampaignLinks, own);
        await execute(tx, sql.moveImportRefs('customer'), ids);
        await execute(tx, sql.deleteCustomer, own);
      },
    },
    ctx,
    id,
    body,
  );
