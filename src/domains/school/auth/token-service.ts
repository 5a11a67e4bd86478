import type { Ctx } from '../../../database/context.ts';
import { hashSecret, newProviderSecret, parseProviderId } from '../../../core/secrets.ts';
import { execute, type Queryable } from '../../../database/statements.ts';
import { findToken, storeSignInToken, storeToken, spendToken, voidTokensOfAdminUser, voidTokensOfUser } from './sql.ts';
import { lifetimes, type Purpose, type TokenOwner } from './schema.ts';

/**
 * Creates a token for an attempt to send a mail, and returns the secret, of which only a hash is stored; undefined once a
 * token of the mail is used.
 */
export async function createMailToken(on: Queryable, purpose: Purpose, owner: TokenOwner, mailId: number | null) {
  const { providerId, userId, adminUserId } = owner;
  const token = newProviderSecret(providerId);
  const values = [providerId, hashSecret(token), purpose, userId, adminUserId, mailId, lifetimes[purpose]];
  const stored = await execute(on, storeToken, values);
  return stored.length > 0 ? token : undefined;
}

/** Creates a sign-in token for a user with this password hash; undefined if the password has changed meanwhile. */
export async function createSignInToken({ unlockedStore, providerId }: Ctx, userId: number, passwordHash: string) {
  const token = newProviderSecret(providerId);
  const values = [providerId, userId, hashSecret(token), passwordHash, lifetimes.sign_in];
  const stored = await execute(unlockedStore, storeSignInToken, values);
  return stored.length > 0 ? token : undefined;
}

/** Returns the owner of a usable token and does not consume it. */
export async function findTokenOwner(on: Queryable, purpose: Purpose, token: string) {
  const values = [parseProviderId(token), hashSecret(token), purpose];
  const [owner] = await execute<TokenOwner>(on, findToken, values);
  return owner;
}

/** Consumes a token; returns its owner to one caller only. */
export async function consumeToken(on: Queryable, purpose: Purpose, token: string) {
  const values = [parseProviderId(token), hashSecret(token), purpose];
  const [owner] = await execute<TokenOwner>(on, spendToken, values);
  return owner;
}

/** Invalidates all tokens of a course user. */
export const voidTokens = ({ providerId }: Ctx, on: Queryable, userId: number) =>
  execute(on, voidTokensOfUser, [providerId, userId]);

/** Invalidates all tokens of an admin user at this provider. */
export const voidAdminTokens = ({ providerId }: Ctx, on: Queryable, adminUserId: number) =>
  execute(on, voidTokensOfAdminUser, [providerId, adminUserId]);
