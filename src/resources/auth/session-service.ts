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

/** Signs a course user in; the secret for their cookie. */
export async function openSession(on: Queryable, { providerId, userId }: SignedIn) {
  const secret = newSecret();
  await execute(on, startSession, [providerId, userId, hashSecret(secret)]);
  return secret;
}

/** Signs in who comes by a link, in place of the browser's last session; nobody when the link no longer works. */
export async function openSessionByToken(on: Queryable, token: string, last: string | undefined) {
  const secret = newSecret();
  const lastHash = last === undefined ? null : hashSecret(last);
  const started = await execute(on, startSessionByToken, [hashSecret(token), 'sign_in', hashSecret(secret), lastHash]);
  return started.length > 0 ? secret : undefined;
}

/** Who is signed in by this cookie. Its use is noted once a minute at most. */
export async function signedInBy(on: Queryable, secret: string): Promise<SignedIn | undefined> {
  const hash = hashSecret(secret);
  const [found] = await execute<SignedIn & { isStale: boolean }>(on, findSession, [hash]);
  if (found?.isStale) await execute(on, touchSession, [hash]);
  return found && { providerId: found.providerId, userId: found.userId };
}

export const endSession = (on: Queryable, secret: string) => execute(on, deleteSession, [hashSecret(secret)]);

/** All of a course user, wherever they are signed in. */
export const endSessions = ({ providerId }: Ctx, on: Queryable, userId: number) =>
  execute(on, deleteSessions, [providerId, userId]);
