import type { Ctx } from '../../core/context.ts';
import { hashSecret, newProviderSecret, parseProviderId } from '../../lib/secrets.ts';
import { execute, type Queryable, type Statement } from '../../database/statements.ts';
import {
  findProviderOfToken,
  findToken,
  storeSignInToken,
  storeToken,
  spendToken,
  voidTokensOfUser,
} from './token-sql.ts';
import { lifetimes, type Purpose, type TokenOwner } from './token-schema.ts';

/** Returns the secret, of which only a hash is stored. A token for a mail replaces the mail's last one. */
export async function createToken(on: Queryable, purpose: Purpose, owner: TokenOwner, mailId: number | null = null) {
  const { providerId, userId, adminUserId } = owner;
  const token = newProviderSecret(providerId);
  await execute(on, storeToken, [
    providerId,
    hashSecret(token),
    purpose,
    userId,
    adminUserId,
    mailId,
    lifetimes[purpose],
  ]);
  return token;
}

/** Creates a sign-in token for a user with this password hash; undefined if the password has changed meanwhile. */
export async function createSignInToken({ unlockedStore, providerId }: Ctx, userId: number, passwordHash: string) {
  const token = newProviderSecret(providerId);
  const values = [providerId, userId, hashSecret(token), passwordHash, lifetimes.sign_in];
  const stored = await execute(unlockedStore, storeSignInToken, values);
  return stored.length > 0 ? token : undefined;
}

/** The provider of a token or session; null for an unknown one. `lookup` finds it by hash for secrets of version 0.2. */
export async function findProvider(on: Queryable, secret: string, lookup: Statement) {
  const named = parseProviderId(secret);
  if (named !== undefined) return named;
  const [found] = await execute<{ providerId: number }>(on, lookup, [hashSecret(secret)]);
  return found?.providerId ?? null;
}

/** Returns the owner of a usable token and does not consume it. */
export async function findTokenOwner(on: Queryable, purpose: Purpose, token: string) {
  const values = [await findProvider(on, token, findProviderOfToken), hashSecret(token), purpose];
  const [owner] = await execute<TokenOwner>(on, findToken, values);
  return owner;
}

/** Consumes a token; returns its owner to one caller only. */
export async function consumeToken(on: Queryable, purpose: Purpose, token: string) {
  const values = [await findProvider(on, token, findProviderOfToken), hashSecret(token), purpose];
  const [owner] = await execute<TokenOwner>(on, spendToken, values);
  return owner;
}

/** Invalidates all tokens of a course user. */
export const voidTokens = ({ providerId }: Ctx, on: Queryable, userId: number) =>
  execute(on, voidTokensOfUser, [providerId, userId]);
