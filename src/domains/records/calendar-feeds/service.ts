import { Problem } from '../../../core/errors.ts';
import { hashSecret, newProviderSecret, parseProviderId } from '../../../core/secrets.ts';
import type { Ctx, Versions } from '../../../database/context.ts';
import { execute, type Queryable } from '../../../database/statements.ts';
import * as sql from './sql.ts';

/** Returns the secret of the address, of which only a hash is stored. An earlier address ends. */
export const createFeed = (ctx: Ctx, userId: number): Promise<string> =>
  ctx.write(['people'], async (tx, now) => {
    const { providerId } = ctx;
    const token = newProviderSecret(providerId);
    const stored = await execute(tx, sql.storeFeed, [providerId, userId, hashSecret(token), now]);
    if (stored.length === 0) throw Problem.notFound('Course user');
    return token;
  });

export const endFeed = (ctx: Ctx, userId: number): Promise<void> =>
  ctx.write(['people'], async (tx) => {
    const deleted = await execute(tx, sql.deleteFeed, [ctx.providerId, userId]);
    if (deleted.length === 0) tx.rollbackNoChange();
  });

/** The time at which the person's feed was created; undefined without one. */
export async function findFeedOfUser({ providerId, unlockedStore }: Ctx, userId: number) {
  const [feed] = await execute<{ createdAt: string }>(unlockedStore, sql.findFeedOfUser, [providerId, userId]);
  return feed?.createdAt;
}

/** A person's calendar: `day` is that of the database's clock. */
export type Feed = Versions & { providerId: number; userId: number; day: string };

/** Undefined for an unknown or ended address. */
export async function findFeed(on: Queryable, token: string) {
  const values = [parseProviderId(token), hashSecret(token)];
  const [found] = await execute<Feed>(on, sql.findFeed, values);
  return found;
}
