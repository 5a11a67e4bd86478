import { and, desc, eq, isNotNull, sql } from 'drizzle-orm';
import { recordEntry } from '../../../database/audit-log.ts';
import type { Ctx, SchoolWrite } from '../../../database/context.ts';
import type { UnlockedStore } from '../../../database/reader.ts';
import { hashSecret, newProviderSecret, parseProviderId } from '../../../core/secrets.ts';
import { sessions, tokens } from '../../../database/tables/access.ts';
import { transactionStart } from '../../../database/tables/columns.ts';
import { isOfOpenProvider } from '../../../database/tables/providers.ts';
import { tenantWhere } from '../../../lists/tenant-scope.ts';
import { deleteOtherSessions, shortHashSql, startSessionByToken } from './sql.ts';

/** Sign-ons since the start of the process, by their way and result; the metrics read them. */
export const signOnCounts = {
  /** `limited`: refused for the failures before, without a check. */
  password: { succeeded: 0, failed: 0, limited: 0 },
  link: { succeeded: 0, failed: 0 },
};

type SignedIn = { providerId: number; userId: number };

/** Returns the secret for the cookie. */
export async function openSession(on: UnlockedStore, { providerId, userId }: SignedIn) {
  const secret = newProviderSecret(providerId);
  const times = { createdAt: transactionStart, usedAt: transactionStart, expiresAt: sql`now() + interval '12 hours'` };
  await on.insert(sessions).values({ providerId, userId, hash: hashSecret(secret), ...times });
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
export async function openSessionByToken(on: UnlockedStore, { token, last, action }: LinkUse) {
  const secret = await startByToken(on, token, action);
  signOnCounts.link[secret === undefined ? 'failed' : 'succeeded'] += 1;
  if (secret === undefined) return undefined;
  // The token is spent: an error here must not lose the new session.
  if (last !== undefined) await endSession(on, last).catch(() => undefined);
  return secret;
}

/** Both results are in the audit log, unless the token never existed. */
async function startByToken(on: UnlockedStore, token: string, action: string) {
  const providerId = parseProviderId(token);
  if (providerId === 0) return undefined;
  const secret = newProviderSecret(providerId);
  const hashes = { token: hashSecret(token), session: hashSecret(secret) };
  if ((await startSessionByToken.count(on, { providerId, ...hashes, action: `${action} (succeeded)` })) > 0)
    return secret;
  const isToken = and(eq(tokens.hash, hashes.token), eq(tokens.purpose, 'sign_in'), isNotNull(tokens.userId));
  const [known] = await on
    .select({ userId: sql<number>`${tokens.userId}` })
    .from(tokens)
    .where(tenantWhere({ providerId }, tokens, isToken));
  if (known) {
    const { userId } = known;
    const entry = { actor: 'course_user', actorId: userId, action: `${action} (failed)`, itemIds: [userId] } as const;
    await recordEntry(on, providerId, entry);
  }
  return undefined;
}

const isSession = (secret: string) =>
  tenantWhere({ providerId: parseProviderId(secret) }, sessions, eq(sessions.hash, hashSecret(secret)));
/** A session ends an hour after its last use. */
const isActive = sql`${sessions.expiresAt} > now() and ${sessions.usedAt} > now() - interval '1 hour'`;

/** Returns the user of a session cookie. Stores its last use at most once a minute. */
export async function findSessionUser(on: UnlockedStore, secret: string): Promise<SignedIn | undefined> {
  const isStale = sql<boolean>`${sessions.usedAt} < now() - interval '1 minute'`;
  const [session] = await on
    .select({ providerId: sessions.providerId, userId: sessions.userId, isStale })
    .from(sessions)
    .where(and(isSession(secret), isActive, isOfOpenProvider(sessions)));
  if (session?.isStale) await on.update(sessions).set({ usedAt: transactionStart }).where(isSession(secret));
  return session && { providerId: session.providerId, userId: session.userId };
}

export const endSession = (on: UnlockedStore, secret: string) => on.delete(sessions).where(isSession(secret));

const isOfUser = (ctx: Pick<Ctx, 'providerId'>, userId: number) =>
  tenantWhere(ctx, sessions, eq(sessions.userId, userId));

export type SessionItem = Awaited<ReturnType<typeof listUserSessions>>[number];

/** The active sessions of a course user, the current one first, then by last use. */
export function listUserSessions(ctx: Ctx, userId: number, secret: string) {
  const { createdAt, usedAt, hash } = sessions;
  const isCurrent = sql<boolean>`${hash} = ${hashSecret(secret)}`;
  return ctx.unlockedStore
    .select({ id: sql<string>`${sql.raw(shortHashSql)}`, createdAt, usedAt, isCurrent })
    .from(sessions)
    .where(and(isOfUser(ctx, userId), isActive))
    .orderBy(desc(isCurrent), desc(usedAt), hash)
    .limit(100);
}

type EndedSessions = { userId: number; secret: string; ids: string[] | null; action: string };

/** Ends sessions by id, or all, but the current one. Returns their number. */
export async function endOtherSessions({ providerId, unlockedStore }: Ctx, ended: EndedSessions) {
  const { userId, secret, ids, action } = ended;
  const chosen = { current: hashSecret(secret), all: ids === null, ids: ids ?? [] };
  return (await deleteOtherSessions.one(unlockedStore, { providerId, userId, ...chosen, action })).count;
}

export const endSessions = (w: SchoolWrite, userId: number) => w.tx.delete(sessions).where(isOfUser(w, userId));
