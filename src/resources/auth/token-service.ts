import type { Ctx } from '../../core/context.ts';
import { hashSecret, newSecret } from '../../lib/secrets.ts';
import { execute, type Queryable } from '../../database/statements.ts';
import { findToken, storeSignInToken, storeToken, spendToken, voidTokensOfUser } from './token-sql.ts';
import { lifetimes, type Purpose, type TokenOwner } from './token-schema.ts';

/** A new token, told only here: what a link ends with. One for a mail replaces the mail's last. */
export async function createToken(on: Queryable, purpose: Purpose, owner: TokenOwner, mailId: number | null = null) {
  const token = newSecret();
  const { providerId, userId, adminUserId } = owner;
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

/** One to sign in with, for who has just shown the password of this hash; none when it has been changed meanwhile. */
export async function createSignInToken({ authStore, providerId }: Ctx, userId: number, passwordHash: string) {
  const token = newSecret();
  const values = [providerId, userId, hashSecret(token), passwordHash, lifetimes.sign_in];
  const stored = await execute(authStore, storeSignInToken, values);
  return stored.length > 0 ? token : undefined;
}

/** Whose token it is, while it works; looking uses nothing up. */
export async function getOwner(on: Queryable, purpose: Purpose, token: string) {
  const [owner] = await execute<TokenOwner>(on, findToken, [hashSecret(token), purpose]);
  return owner;
}

/** Uses it up: of all who try, one is told whose it was. */
export async function useToken(on: Queryable, purpose: Purpose, token: string) {
  const [owner] = await execute<TokenOwner>(on, spendToken, [hashSecret(token), purpose]);
  return owner;
}

/** Ends what links a course user was sent before. */
export const voidTokens = ({ providerId }: Ctx, on: Queryable, userId: number) =>
  execute(on, voidTokensOfUser, [providerId, userId]);
