import type { Ctx } from '../../core/context.ts';
import { hashSecret, newSecret } from '../../core/secret.ts';
import { run, type Runner } from '../../database/statements.ts';
import { dropSession, dropSessions, findSession, startSession, touchSession } from './query.ts';

/** A course user who is signed in. */
export type SignedIn = { providerId: number; userId: number };

/** Signs a course user in; the secret for their cookie. */
export async function openSession(on: Runner, { providerId, userId }: SignedIn) {
  const secret = newSecret();
  await run(on, startSession, [providerId, userId, hashSecret(secret)]);
  return secret;
}

/** Who is signed in by this cookie. Its use is noted once a minute at most. */
export async function signedInBy(on: Runner, secret: string): Promise<SignedIn | undefined> {
  const hash = hashSecret(secret);
  const [found] = await run<SignedIn & { isStale: boolean }>(on, findSession, [hash]);
  if (found?.isStale) await run(on, touchSession, [hash]);
  return found && { providerId: found.providerId, userId: found.userId };
}

export const endSession = (on: Runner, secret: string) => run(on, dropSession, [hashSecret(secret)]);

/** All of a course user, wherever they are signed in. */
export const endSessions = ({ providerId }: Ctx, on: Runner, userId: number) =>
  run(on, dropSessions, [providerId, userId]);
