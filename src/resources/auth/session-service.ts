import type { Ctx } from '../../core/context.ts';
import { hashSecret, newSecret } from '../../lib/secrets.ts';
import { execute, type Queryable } from '../../database/statements.ts';
import {
  deleteSession,
  deleteSessions,
  findSession,
  startSession,
  startSessionByToken,
  touchSession,
} from './session-sql.ts';

/** A course user who is signed in. */
export type SignedIn = { providerId: number; userId: number };

/** Signs a course user in; returns the secret for the cookie. */
export async function openSession(on: Queryable, { providerId, userId }: SignedIn) {
  const secret = newSecret();
  await execute(on, startSession, [providerId, userId, hashSecret(secret)]);
  return secret;
}

/** Consumes a sign-in token and replaces the browser's last session; undefined if the token is not usable. */
export async function openSessionByToken(on: Queryable, token: string, last: string | undefined) {
  const secret = newSecret();
  const lastHash = last === undefined ? null : hashSecret(last);
  const started = await execute(on, startSessionByToken, [hashSecret(token), 'sign_in', hashSecret(secret), lastHash]);
  return started.length > 0 ? secret : undefined;
}

/** Returns the user of a session cookie. Stores its last use at most once a minute. */
export async function findSessionUser(on: Queryable, secret: string): Promise<SignedIn | undefined> {
  const hash = hashSecret(secret);
  const [session] = await execute<SignedIn & { isStale: boolean }>(on, findSession, [hash]);
  if (session?.isStale) await execute(on, touchSession, [session.providerId, hash]);
  return session && { providerId: session.providerId, userId: session.userId };
}

export const endSession = (on: Queryable, secret: string) => execute(on, deleteSession, [hashSecret(secret)]);

/** Ends all sessions of a course user. */
export const endSessions = ({ providerId }: Ctx, on: Queryable, userId: number) =>
  execute(on, deleteSessions, [providerId, userId]);
