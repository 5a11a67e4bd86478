import { eq, isNull, type SQL } from 'drizzle-orm';
import type { Ctx, WriteCtx } from '../../../database/context.ts';
import type { UnlockedStore } from '../../../database/reader.ts';
import { hashSecret, newProviderSecret, parseProviderId } from '../../../core/secrets.ts';
import type { Queryable } from '../../../database/statements.ts';
import { tokens } from '../../../database/tables/access.ts';
import { transactionStart } from '../../../database/tables/columns.ts';
import { tenantWhere } from '../../../lists/tenant-scope.ts';
import { isUsable, storeSignInToken, storeToken } from './sql.ts';
import { lifetimes, type Purpose, type TokenOwner } from './schema.ts';

/** Creates a token for an attempt of a mail and returns its secret; undefined once a token of the mail is used. */
export async function createMailToken(on: Queryable, purpose: Purpose, owner: TokenOwner, mailId: number | null) {
  const token = newProviderSecret(owner.providerId);
  const stored = { hash: hashSecret(token), purpose, mailId, lifetime: lifetimes[purpose] };
  return (await storeToken.count(on, { ...owner, ...stored })) > 0 ? token : undefined;
}

/** Creates a sign-in token for a user with this password hash; undefined if the password has changed meanwhile. */
export async function createSignInToken({ unlockedStore, providerId }: Ctx, userId: number, passwordHash: string) {
  const token = newProviderSecret(providerId);
  const stored = { hash: hashSecret(token), passwordHash, lifetime: lifetimes.sign_in };
  return (await storeSignInToken.count(unlockedStore, { providerId, userId, ...stored })) > 0 ? token : undefined;
}

const ownerColumns = { providerId: tokens.providerId, userId: tokens.userId, adminUserId: tokens.adminUserId };
const isToken = (purpose: Purpose, token: string) =>
  tenantWhere({ providerId: parseProviderId(token) }, tokens, isUsable(hashSecret(token), purpose));

/** Returns the owner of a usable token and does not consume it. */
export async function findTokenOwner(
  on: UnlockedStore,
  purpose: Purpose,
  token: string,
): Promise<TokenOwner | undefined> {
  const [owner] = await on.select(ownerColumns).from(tokens).where(isToken(purpose, token));
  return owner;
}

/** Consumes a token; returns its owner to one caller only. */
export async function consumeToken(
  on: UnlockedStore,
  purpose: Purpose,
  token: string,
): Promise<TokenOwner | undefined> {
  const used = { usedAt: transactionStart };
  const [owner] = await on.update(tokens).set(used).where(isToken(purpose, token)).returning(ownerColumns);
  return owner;
}

const voidAll = (w: WriteCtx, owner: SQL) =>
  w.tx
    .update(tokens)
    .set({ usedAt: transactionStart })
    .where(tenantWhere(w, tokens, owner, isNull(tokens.usedAt)));

/** Invalidates all tokens of a course user. */
export const voidTokens = (w: WriteCtx, userId: number) => voidAll(w, eq(tokens.userId, userId));

/** Invalidates all tokens of an admin user at this provider. */
export const voidAdminTokens = (w: WriteCtx, adminUserId: number) => voidAll(w, eq(tokens.adminUserId, adminUserId));
