import { Problem } from '../../../core/errors.ts';
import { hashSecret, newProviderSecret, parseProviderId } from '../../../core/secrets.ts';
import type { Ctx, Versions } from '../../../database/context.ts';
import { execute, type Queryable } from '../../../database/statements.ts';

/** In place of an earlier one; no row for an erased person. */
const storeFeedSql = {
  name: 'store_calendar_feed',
  text: `insert into calendar_feeds (provider_id, user_id, hash, created_at)
    select provider_id, id, $3, $4::timestamptz from course_users where provider_id = $1 and id = $2 and erased_at is null
    on conflict (provider_id, user_id) do update set hash = excluded.hash, created_at = excluded.created_at
    returning true as stored`,
};

const deleteFeedSql = {
  name: 'delete_calendar_feed',
  text: 'delete from calendar_feeds where provider_id = $1 and user_id = $2 returning true as deleted',
};

const findFeedOfUserSql = {
  name: 'find_calendar_feed_of_user',
  text: 'select created_at::text as "createdAt" from calendar_feeds where provider_id = $1 and user_id = $2',
};

/** A feed of a provider ($1) by hash ($2), of a provider that is open, with the versions of its data and the day. */
const findFeedSql = {
  name: 'find_calendar_feed',
  text: `select f.provider_id as "providerId", f.user_id as "userId", now()::date::text as day,
      s.catalog_changed_at::text as catalog, s.dates_changed_at::text as dates, s.people_changed_at::text as people,
      s.money_changed_at::text as money, s.school_changed_at::text as school,
      concat_ws(' ', v.changed_at, v.xmin, pg_postmaster_start_time()) as shared
    from calendar_feeds f
      join providers p on p.id = f.provider_id and p.closed_at is null
      join provider_state s on s.provider_id = f.provider_id
      cross join service_state v
    where f.provider_id = $1 and f.hash = $2`,
};

/** Returns the secret of the address, of which only a hash is stored. An earlier address ends. */
export const createFeed = (ctx: Ctx, userId: number): Promise<string> =>
  ctx.write(['people'], async (tx, now) => {
    const { providerId } = ctx;
    const token = newProviderSecret(providerId);
    const stored = await execute(tx, storeFeedSql, [providerId, userId, hashSecret(token), now]);
    if (stored.length === 0) throw Problem.notFound('Course user');
    return token;
  });

export const endFeed = (ctx: Ctx, userId: number): Promise<void> =>
  ctx.write(['people'], async (tx) => {
    const deleted = await execute(tx, deleteFeedSql, [ctx.providerId, userId]);
    if (deleted.length === 0) tx.rollbackNoChange();
  });

/** The time at which the person's feed was created; undefined without one. */
export async function findFeedOfUser({ providerId, unlockedStore }: Ctx, userId: number) {
  const [feed] = await execute<{ createdAt: string }>(unlockedStore, findFeedOfUserSql, [providerId, userId]);
  return feed?.createdAt;
}

/** A person's calendar: `day` is that of the database's clock. */
export type Feed = Versions & { providerId: number; userId: number; day: string };

/** Undefined for an unknown or ended address. */
export async function findFeed(on: Queryable, token: string) {
  const values = [parseProviderId(token), hashSecret(token)];
  const [found] = await execute<Feed>(on, findFeedSql, values);
  return found;
}
