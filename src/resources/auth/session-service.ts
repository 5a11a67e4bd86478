import type { Ctx } from '../../core/context.ts';
import { hashSecret, newProviderSecret } from '../../lib/secrets.ts';
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
import { findProvider } from './token-service.ts';
import { findProviderOfToken } from './token-sql.ts';

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
  const providerId = await findProvider(on, token, findProviderOfToken);
  if (providerId === null) return undefined;
  const secret = newProviderSecret(providerId);
  const values = [providerId, hashSecret(token), 'sign_in', hashSecret(secret)];
  const started = await execute(on, startSessionByToken, values);
  if (started.length === 0) return undefined;
  // The token is spent: an error here must not lose the new session.
  if (last !== undefined) await endSession(on, last).catch(() => undefined);
  return secret;
}

/** Returns the user of a session cookie. Stores its last use at most once a minute. */
export async function findSessionUser(on: Queryable, secret: string): Promise<SignedIn | undefined> {
  const hash = hashSecret(secret);
  const values = [await findProvider(on, secret, findProviderOfSession), hash];
  const [session] = await execute<SignedIn & { isStale: boolean }>(on, findSession, values);
  if (session?.isStale) await execute(on, touchSession, [session.providerId, hash]);
  return session && { providerId: session.providerId, userId: session.userId };
}

export const endSession = async (on: Queryable, secret: string) =>
  execute(on, deleteSession, [await findProvider(on, secret, findProviderOfSession), hashSecret(secret)]);

/** Ends all sessions of a course user. */
export const endSessions = ({ providerId }: Ctx, on: Queryable, userId: number) =>
  execute(on, deleteSessions, [providerId, userId]);
