import type { Static } from '@sinclair/typebox';
import { Problem } from '../../../core/errors.ts';
import type { Areas } from '../../../database/areas.ts';
import type { Tx } from '../../../database/client.ts';
import { writeInSlices, type Ctx } from '../../../database/context.ts';
import { execute, type Queryable, type Statement } from '../../../database/statements.ts';
import { itemMembers } from '../../../database/tables/idempotency.ts';
import { customers } from '../../../database/tables/customers.ts';
import { courseUsers } from '../../../database/tables/users.ts';
import { defineReferences } from '../../../lists/references.ts';
import { endSessions } from '../../school/auth/session-service.ts';
import { replaceOfferLinks } from '../../messages/links/service.ts';
import { getCustomer } from '../../people/customer-list/service.ts';
import { getCourseUser } from '../../people/users/service.ts';
import type { MergeBody } from './body-schema.ts';
import type { CourseUserMerge, CustomerMerge } from './schema.ts';
import * as sql from './sql.ts';

export const courseUserMergeReferences = defineReferences<MergeBody>({ into: courseUsers.id });
export const customerMergeReferences = defineReferences<MergeBody>({ into: customers.id });

const maxMoved = 50_000;
/** Limits the time under the lock: a merge of more moves them in several writes. */
const sliceSize = 500;

type Kind = {
  notFound(): Problem;
  resource: keyof typeof itemMembers;
  areas: Areas;
  lock: Statement;
  count: Statement;
  counted: string[];
  /** Members of a dry run alone. */
  preview?(tx: Tx, ids: Ids): Promise<object>;
  /** Moves up to `limit` items, and returns their number. */
  moveSome(tx: Tx, ids: Ids, now: string, limit: number): Promise<number>;
  /** Moves the items that are not counted, and deletes the merged one. */
  finish(tx: Tx, ids: Ids): Promise<void>;
  read(ctx: Ctx, id: number): Promise<object>;
};
type Ids = [providerId: number, id: number, into: number];

/** `dry_run` counts and changes nothing. A repeated request continues a merge that was interrupted between two slices. */
async function merge<Counts extends object>(kind: Kind, ctx: Ctx, id: number, { into, dry_run = false }: MergeBody) {
  const ids: Ids = [ctx.providerId, id, into];
  const count = async (on: Queryable) =>
    (await execute<Record<string, number>>(on, kind.count, [ctx.providerId, id]))[0]!;
  // Without the lock, since these read every item and answer.
  const before = await count(ctx.unlockedStore);
  const keys = dry_run
    ? []
    : await execute<{ key: string }>(ctx.unlockedStore, sql.findAnswerKeys(kind.resource), ids.slice(0, 2));
  const numMoved = kind.counted.reduce((sum, name) => sum + before[name]!, 0);
  let counts = dry_run || numMoved > sliceSize ? before : undefined;
  type Result = { id: number; into: number; dry_run: boolean } & Counts;
  return writeInSlices(ctx, kind.areas, async (tx, now): Promise<Result | undefined> => {
    const found = await execute<{ id: number; is_erased?: boolean }>(tx, kind.lock, ids);
    const [merged, staying] = [id, into].map((one) => found.find((row) => row.id === one));
    if (!merged) throw kind.notFound();
    if (id === into) throw Problem.invalidFields({ rules: { into: 'same_item' } });
    if (!staying) throw Problem.invalidFields({ notValid: ['into'] });
    if (staying.is_erased) throw Problem.invalidFields({ rules: { into: 'person_erased' } });
    // Its places would be those of a known person again.
    if (merged.is_erased) throw Problem.coded('person_erased', 'The course user is erased and cannot be merged');
    if (numMoved > maxMoved) throw Problem.coded('too_many_items', 'A merge moves at most 50,000 items');

    counts ??= await count(tx);
    const result = { id, into, dry_run, ...counts } as unknown as Result;
    if (dry_run) return tx.rollbackNoChange({ ...result, ...(await kind.preview?.(tx, ids)) });

    tx.recordAffected(into);
    if ((await kind.moveSome(tx, ids, now, sliceSize)) === sliceSize) return undefined;
    if ((await replaceInAnswers(kind, ctx, tx, now, ids, keys)) === sliceSize) return undefined;
    await execute(tx, sql.moveImportRefs(kind.resource), ids);
    await kind.finish(tx, ids);
    await execute(tx, sql.recordMerge(kind.resource), [...ids, now]);
    return result;
  });
}

/** So that the repetition of a request shows the one that stays. Returns the number of answers. */
async function replaceInAnswers(
  { resource, read }: Kind,
  ctx: Ctx,
  tx: Tx,
  now: string,
  [providerId, id, into]: Ids,
  found: { key: string }[],
) {
  const values = [providerId, id, found.map(({ key }) => key), ctx.version, sliceSize];
  const answers = await execute(tx, sql.findSomeAnswers(resource), values);
  if (answers.length === 0) return 0;
  const staying = await read({ ...ctx, db: tx }, into);
  const { mark, reference } = itemMembers[resource];
  const replace = (_name: string, value: unknown) => {
    const item = (value ?? {}) as Record<string, unknown>;
    if (item['id'] === id && item[mark] !== undefined) return staying;
    return item[reference] === id ? { ...item, [reference]: into } : value;
  };
  await execute(tx, sql.updateAnswers, [providerId, JSON.stringify(answers, replace), now]);
  return answers.length;
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
      async preview(tx, ids) {
        const dates = await execute<{ id: number }>(tx, sql.findSharedDates, ids);
        return { coursedate_ids: dates.map((date) => date.id) };
      },
      async moveSome(tx, ids, now, limit) {
        const moved = await execute<{ id: number }>(tx, sql.moveSomeParticipants, [...ids, now, limit]);
        const places = moved.map((participant) => participant.id);
        // Mails move with the participant, so that none offers a moved one to the merged person.
        await execute(tx, sql.moveMailsOfPlaces, [...ids, places]);
        await replaceOfferLinks(ctx, tx, now, body.into, places);
        return moved.length;
      },
      async finish(tx, ids) {
        const own = ids.slice(0, 2);
        // Links before mails, whose keys they have.
        await execute(tx, sql.deleteTokens, own);
        await endSessions(ctx, tx, id);
        await execute(tx, sql.deleteInvitations, own);
        await execute(tx, sql.moveMails, ids);
        await execute(tx, sql.moveInterests, ids);
        await execute(tx, sql.rememberMerge, ids);
        await execute(tx, sql.deleteCourseUser, own);
      },
      read: getCourseUser,
    },
    ctx,
    id,
    body,
  );

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
      async moveSome(tx, ids, now, limit) {
        await execute(tx, sql.moveParent, [...ids, now]);
        let moved = 0;
        for (const statement of sql.moveSomeOfCustomer)
          moved += (await execute(tx, statement, [...ids, now, limit - moved])).length;
        return moved;
      },
      async finish(tx, ids) {
        await execute(tx, sql.deleteCustomer, ids.slice(0, 2));
      },
      read: (reader, into) => getCustomer(reader, into, {}),
    },
    ctx,
    id,
    body,
  );
