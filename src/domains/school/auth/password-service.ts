import { randomBytes } from 'node:crypto';
import { and, eq, inArray, type SQL } from 'drizzle-orm';
import { hash, verify, type Options } from '@node-rs/argon2';
import { Problem } from '../../../core/errors.ts';
import type { Tx } from '../../../database/client.ts';
import type { Ctx, WriteCtx } from '../../../database/context.ts';
import { createKeyedQueue } from '../../../database/keyed-queue.ts';
import { signOnFailures, usernameHash } from '../../../database/tables/access.ts';
import { adminUsers } from '../../../database/tables/people.ts';
import { providers } from '../../../database/tables/providers.ts';
import { courseUsers } from '../../../database/tables/users.ts';
import { tenantWhere } from '../../../lists/tenant-scope.ts';
import { Password, type TokenOwner } from './schema.ts';
import { endSessions } from './session-service.ts';
import { voidTokens } from './token-service.ts';

/** OWASP's recommendation for argon2id: 19 MiB, two passes, one lane. */
const cost: Options = { memoryCost: 19_456, timeCost: 2, parallelism: 1 };
const current = '$m=19456,t=2,p=1$';

/** Hashing shares libuv's thread pool with file and DNS access; two slots leave threads for those. */
const queued = createKeyedQueue({ slots: 2, waiting: 200, waitMs: 10_000 });
export const passwordQueueUsage = queued.usage;

/** Unicode normalization by RFC 8265; none of a text that is too long for a password. */
const normalized = (password: string) =>
  password.length > 2 * Password.maxLength! ? password : password.normalize('NFC');

/** Queued fairly by key; throws a queue error (503) if too many wait. */
export const hashPassword = (password: string, tenantQueueKey?: number) =>
  queued([], () => hash(normalized(password), cost), { tenantQueueKey });

let dummyHash: Promise<string> | undefined;
/** The hash of a random password, to compare with if a user has none. */
export const prepareHashing = () => (dummyHash ??= hash(randomBytes(32), cost));

/** False without a hash, after the same time, and for an unreadable hash, as older imports accepted. */
export async function isPassword(password: string, stored: string | null, tenantQueueKey?: number) {
  const compareWith = stored ?? (await prepareHashing());
  const verified = () => verify(compareWith, normalized(password)).catch(() => false);
  const equal = await queued([], verified, { tenantQueueKey });
  return equal && stored !== null;
}

/** True for a hash with another cost than the current one. */
export const isOutdated = (stored: string) => !stored.includes(current);

/** Sets a course user's password; ends all their sessions and links. */
export async function setPassword(ctx: Ctx, userId: number, password: string) {
  const passwordHash = await hashPassword(password, ctx.tenantQueueKey);
  await ctx.write(['people'], (w) => storePassword(w, userId, passwordHash));
}

/** Stores a hash inside a transaction; ends all sessions and links. */
export async function storePassword(w: WriteCtx, userId: number, passwordHash: string) {
  if (!(await updateHash(w, eq(courseUsers.id, userId), passwordHash))) throw Problem.notFound('Course user');
  w.tx.auditItem(userId);
  await endAccess(w, userId);
  await forgetFailures(w, userId);
}

/** Lifts the limit on a username, so that its user can sign in with the new password. */
function forgetFailures(w: WriteCtx, userId: number) {
  const hashes = w.tx
    .select({ hash: usernameHash(courseUsers.username) })
    .from(courseUsers)
    .where(tenantWhere(w, courseUsers, eq(courseUsers.id, userId)));
  return w.tx
    .delete(signOnFailures)
    .where(tenantWhere(w, signOnFailures, inArray(signOnFailures.usernameHash, hashes)));
}

/** Replaces the password if the hash is still `from`, and ends all sessions and links; returns whether it was. */
export async function replacePassword(w: WriteCtx, userId: number, hashes: { from: string; to: string }) {
  const isReplaced = await replaceHash(w, userId, hashes);
  if (!isReplaced) return false;
  w.tx.auditItem(userId);
  await endAccess(w, userId);
  return true;
}

/** Replaces the hash of an unchanged password if it is still `from`; returns whether it was. */
export const replaceHash = (w: WriteCtx, userId: number, hashes: { from: string; to: string }) =>
  updateHash(w, and(eq(courseUsers.id, userId), eq(courseUsers.passwordHash, hashes.from)), hashes.to);

async function updateHash(w: WriteCtx, condition: SQL | undefined, passwordHash: string) {
  const user = tenantWhere(w, courseUsers, condition);
  const changed = await w.tx.update(courseUsers).set({ passwordHash }).where(user).returning({ id: courseUsers.id });
  return changed.length > 0;
}

/** Links first: one that has just become a session is ended with the sessions. */
async function endAccess(w: WriteCtx, userId: number) {
  await voidTokens(w, userId);
  await endSessions(w, userId);
}

/** An admin user has one password at all providers. */
export async function storeAdminPassword(tx: Tx, adminUserId: number, passwordHash: string) {
  await tx
    .update(adminUsers)
    .set({ passwordHash })
    .where(eq(adminUsers.id, tx.auditItem(adminUserId)));
}

type Owner = Pick<TokenOwner, 'userId' | 'adminUserId'>;

/** The names that a password may not be made of: those of the school and of the person. */
export async function loadPasswordNames(ctx: Ctx, { userId, adminUserId }: Owner) {
  const [school] = await ctx.db
    .select({ title: providers.title })
    .from(providers)
    .where(eq(providers.id, ctx.providerId));
  const [person] =
    userId !== null
      ? await ctx.db
          .select({
            username: courseUsers.username,
            ...{ firstname: courseUsers.firstname, lastname: courseUsers.lastname, email: courseUsers.email },
          })
          .from(courseUsers)
          .where(tenantWhere(ctx, courseUsers, eq(courseUsers.id, userId)))
      : await ctx.db
          .select({ firstname: adminUsers.firstname, lastname: adminUsers.lastname, email: adminUsers.email })
          .from(adminUsers)
          .where(eq(adminUsers.id, adminUserId!));
  return [...Object.values(school ?? {}), ...Object.values(person ?? {})];
}
