import { and, eq, isNull, sql } from 'drizzle-orm';
import { Problem } from '../../../core/errors.ts';
import { hashSecret, newProviderSecret, parseProviderId } from '../../../core/secrets.ts';
import type { Ctx } from '../../../database/context.ts';
import type { UnlockedStore } from '../../../database/reader.ts';
import { calendarFeeds } from '../../../database/tables/access.ts';
import { providers, providerState, serviceState } from '../../../database/tables/providers.ts';
import { courseUsers } from '../../../database/tables/users.ts';
import { sameTenant, tenantWhere } from '../../../lists/tenant-scope.ts';

/** Returns the secret of the address, of which only a hash is stored. An earlier address ends. */
export const createFeed = (ctx: Ctx, userId: number): Promise<string> =>
  ctx.write(['people'], async ({ tx, now }) => {
    const token = newProviderSecret(ctx.providerId);
    const feed = { hash: hashSecret(token), createdAt: now };
    const isPerson = tenantWhere(ctx, courseUsers, eq(courseUsers.id, userId), isNull(courseUsers.erasedAt));
    if ((await tx.$count(courseUsers, isPerson)) === 0) throw Problem.notFound('Course user');
    await tx
      .insert(calendarFeeds)
      .values({ providerId: ctx.providerId, userId, ...feed })
      .onConflictDoUpdate({ target: [calendarFeeds.providerId, calendarFeeds.userId], set: feed });
    return token;
  });

const isFeedOf = (ctx: Ctx, userId: number) => tenantWhere(ctx, calendarFeeds, eq(calendarFeeds.userId, userId));

export const endFeed = (ctx: Ctx, userId: number): Promise<void> =>
  ctx.write(['people'], async ({ tx }) => {
    const { rowCount } = await tx.delete(calendarFeeds).where(isFeedOf(ctx, userId));
    if (rowCount === 0) tx.rollBack();
  });

/** The time at which the person's feed was created; undefined without one. */
export async function findFeedOfUser(ctx: Ctx, userId: number) {
  const { createdAt } = calendarFeeds;
  const [feed] = await ctx.unlockedStore.select({ createdAt }).from(calendarFeeds).where(isFeedOf(ctx, userId));
  return feed?.createdAt;
}

/** A person's calendar with the versions of its data: `day` is that of the database's clock. */
export type Feed = NonNullable<Awaited<ReturnType<typeof findFeed>>>;

/** Undefined for an unknown or ended address, and for a school that is closed. */
export async function findFeed(on: UnlockedStore, token: string) {
  const [found] = await on
    .select({
      providerId: calendarFeeds.providerId,
      userId: calendarFeeds.userId,
      day: sql<string>`now()::date::text`,
      catalog: providerState.catalogChangedAt,
      dates: providerState.datesChangedAt,
      people: providerState.peopleChangedAt,
      money: providerState.moneyChangedAt,
      school: providerState.schoolChangedAt,
      shared: sql<string>`concat_ws(' ', ${serviceState.changedAt}, ${serviceState}.xmin, pg_postmaster_start_time())`,
    })
    .from(calendarFeeds)
    .innerJoin(providers, and(eq(providers.id, calendarFeeds.providerId), isNull(providers.closedAt)))
    .innerJoin(providerState, sameTenant(providerState, calendarFeeds))
    .crossJoin(serviceState)
    .where(
      tenantWhere({ providerId: parseProviderId(token) }, calendarFeeds, eq(calendarFeeds.hash, hashSecret(token))),
    );
  return found;
}
