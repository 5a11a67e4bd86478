import type { Ctx } from '../../../database/context.ts';
import { hashSecret, newProviderSecret, parseProviderId } from '../../../core/secrets.ts';
import { execute, type Queryable } from '../../../database/statements.ts';
import {
  deleteOtherSessions,
  deleteSession,
  deleteSessions,
  findSession,
  listSessions,
  recordUnusableToken,
  startSession,
  startSessionByToken,
  touchSession,
} from './sql.ts';

/** Sign-ons since the start of the process, by their way and result; the metrics read them. */
export const signOnCounts = {
  /** `limited`: refused for the failures before, without a check. */
  password: { succeeded: 0, failed: 0, limited: 0 },
  link: { succeeded: 0, failed: 0 },
};

type SignedIn = { providerId: number; userId: number };

/** Returns the secret for the cookie. */
export async function openSession(on: Queryable, { providerId, userId }: SignedIn) {
  const secret = newProviderSecret(providerId);
  await execute(on, startSession, [providerId, userId, hashSecret(secret)]);
  return secret;
}

type LinkUse = {
  token: string;
  /** The secret of the browser's session before. */
  last?: string | undefined;
  /** The route, for the audit log. */
  action: string;
};

/** Consumes a sign-in token and replaces the browser's last session; undefined if the token is not usable. */
export async function openSessionByToken(on: Queryable, { token, last, action }: LinkUse) {
  const providerId = parseProviderId(token);
  const secret = providerId === null ? undefined : await startByToken(on, providerId, token, action);
  signOnCounts.link[secret === undefined ? 'failed' : 'succeeded'] += 1;
  if (secret === undefined) return undefined;
  // The token is spent: an error here must not lose the new session.
  if (last !== undefined) await endSession(on, last).catch(() => undefined);
  return secret;
}

/** Both results are in the audit log, unless the token never existed. */
async function startByToken(on: Queryable, providerId: number, token: string, action: string) {
  const secret = newProviderSecret(providerId);
  const values = [providerId, hashSecret(token), 'sign_in'];
  const started = await execute(on, startSessionByToken, [...values, hashSecret(secret), `${action} (succeeded)`]);
  if (started.length > 0) return secret;
  await execute(on, recordUnusableToken, [...values, `${action} (failed)`]);
  return undefined;
}

/** Returns the user of a session cookie. Stores its last use at most once a minute. */
export async function findSessionUser(on: Queryable, secret: string): Promise<SignedIn | undefined> {
  const hash = hashSecret(secret);
  const values = [parseProviderId(secret), hash];
  const [session] = await execute<SignedIn & { isStale: boolean }>(on, findSession, values);
  if (session?.isStale) await execute(on, touchSession, [session.providerId, hash]);
  return session && { providerId: session.providerId, userId: session.userId };
}

export const endSession = (on: Queryable, secret: string) =>
  execute(on, deleteSession, [parseProviderId(secret), hashSecret(secret)]);

export type SessionItem = { id: string; createdAt: string; usedAt: string; isCurrent: boolean };

/** The active sessions of a course user, the current one first, then by last use. */
export const listUserSessions = ({ providerId, unlockedStore }: Ctx, userId: number, secret: string) =>
  execute<SessionItem>(unlockedStore, listSessions, [providerId, userId, hashSecret(secret)]);

type EndedSessions = { userId: number; secret: string; ids: string[] | null; action: string };

/** Ends sessions by id, or all, but the current one. Returns their number. */
export async function endOtherSessions({ providerId, unlockedStore }: Ctx, ended: EndedSessions) {
  const { userId, secret, ids, action } = ended;
  const values = [providerId, userId, hashSecret(secret), ids, action];
  const [row] = await execute<{ count: number }>(unlockedStore, deleteOtherSessions, values);
  return row!.count;
}

export const endSessions = ({ providerId }: Pick<Ctx, 'providerId'>, on: Queryable, userId: number) =>
  execute(on, deleteSessions, [providerId, userId]);
