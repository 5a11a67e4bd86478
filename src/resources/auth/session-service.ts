import type { Ctx } from '../../core/context.ts';
import { hashSecret, newProviderSecret, providerOfSecret } from '../../lib/secrets.ts';
import { execute, type Queryable } from '../../database/statements.ts';
import {
  deleteSession,
  deleteSessions,
  findProviderOfSession,
  findSession,
  startSession,
  startSessionByToken,
  touchSession,
} from './session-sql.ts';
import { findProvider as findProviderOfToken } from './token-service.ts';

/** A course user who is signed in. */
export type SignedIn = { providerId: number; userId: number };

/** Signs a course user in; returns the secret for the cookie. */
export async function openSession(on: Queryable, { providerId, userId }: SignedIn) {
  const secret = newProviderSecret(providerId);
  await execute(on, startSession, [providerId, userId, hashSecret(secret)]);
  return secret;
}

/** Consumes a sign-in token and replaces the browser's last session; undefined if the token is not usable. */
export async function openSessionByToken(on: Queryable, token: string, last: string | undefined) {
  const providerId = await findProviderOfToken(on, token);
  if (providerId === null) return undefined;
  const secret = newProviderSecret(providerId);
  const values = [providerId, hashSecret(token), 'sign_in', hashSecret(secret)];
  const started = await execute(on, startSessionByToken, values);
  if (started.length === 0) return undefined;
  if (last !== undefined) await endSession(on, last);
  return secret;
}

/** Returns the user of a session cookie. Stores its last use at most once a minute. */
export async function findSessionUser(on: Queryable, secret: string): Promise<SignedIn | undefined> {
  const hash = hashSecret(secret);
  const values = [await findProvider(on, secret), hash];
  const [session] = await execute<SignedIn & { isStale: boolean }>(on, findSession, values);
  if (session?.isStale) await execute(on, touchSession, [session.providerId, hash]);
  return session && { providerId: session.providerId, userId: session.userId };
}

export const endSession = async (on: Queryable, secret: string) =>
  execute(on, deleteSession, [await findProvider(on, secret), hashSecret(secret)]);

/** The provider of a session; null for an unknown one. */
async function findProvider(on: Queryable, secret: string) {
  const named = providerOfSecret(secret);
  if (named !== undefined) return named;
  const [found] = await execute<{ providerId: number }>(on, findProviderOfSession, [hashSecret(secret)]);
  return found?.providerId ?? null;
}

/** Ends all sessions of a course user. */
export const endSessions = ({ providerId }: Ctx, on: Queryable, userId: number) =>
  execute(on, deleteSessions, [providerId, userId]);
