import { hash, verify, type Options } from '@node-rs/argon2';
import { randomBytes } from 'node:crypto';
import { and, eq, type SQL } from 'drizzle-orm';
import type { Ctx } from '../../core/context.ts';
import { notFound } from '../../core/errors.ts';
import { recordAffected } from '../../database/audit-log.ts';
import type { Tx } from '../../database/client.ts';
import { createKeyedQueue } from '../../database/keyed-queue.ts';
import { execute } from '../../database/statements.ts';
import { adminUsers } from '../../database/tables/people.ts';
import { courseUsers } from '../../database/tables/users.ts';
import { tenantWhere } from '../../lists/tenant-scope.ts';
import { endSessions } from './session-service.ts';
import { voidTokens } from './token-service.ts';
import { forgetFailures } from './password-sql.ts';

/** What OWASP's cheat sheet on storing passwords recommends for argon2id: 19 MiB, two passes, one lane. */
const cost: Options = { memoryCost: 19_456, timeCost: 2, parallelism: 1 };
const current = '$m=19456,t=2,p=1$';

/** Hashing runs in the threads that files and names are read in as well, so it never takes all of them. */
const queued = createKeyedQueue({ slots: 2, waiting: 200, waitMs: 10_000 });

/** One spelling of what can be typed in several, as RFC 8265 has it. */
const spelled = (password: string) => password.normalize('NFC');

/** Waits in turn with other fairness keys; throws a queue error, which is 503, when too many wait. */
export const hashPassword = (password: string, fairnessKey?: number) =>
  queued([], () => hash(spelled(password), cost), { fairnessKey });

let nobodys: Promise<string> | undefined;
/** The hash of a password that nobody has; made once, before the first question. */
export const prepareHashing = () => (nobodys ??= hash(randomBytes(32), cost));

/**
 * Whether it is the password of this hash; without a hash it never is, and takes just as long. Nor is it of a hash that
 * cannot be read, as an import may have brought before it looked closely.
 */
export async function isPassword(password: string, stored: string | null, fairnessKey?: number) {
  const compared = stored ?? (await prepareHashing());
  const verified = () => verify(compared, spelled(password)).catch(() => false);
  const equal = await queued([], verified, { fairnessKey });
  return equal && stored !== null;
}

/** Whether it was made at another cost than hashes are made now. */
export const isOutdated = (stored: string) => !stored.includes(current);

/** Gives a course user another password: all their sessions end, and links sent before work no more. */
export async function setPassword(ctx: Ctx, userId: number, password: string) {
  const passwordHash = await hashPassword(password, ctx.fairnessKey);
  await ctx.write((tx) => storePassword(ctx, tx, userId, passwordHash));
}

/** The same inside a transaction, with the hash at hand. */
export async function storePassword(ctx: Ctx, tx: Tx, userId: number, passwordHash: string) {
  if (!(await store(ctx, tx, eq(courseUsers.id, userId), passwordHash))) throw notFound('Course user');
  recordAffected(tx, userId);
  await endOtherWaysIn(ctx, tx, userId);
  await execute(tx, forgetFailures, [ctx.providerId, userId]);
}

/** The same, while the user's hash is the one that was looked at; whether it was. */
export async function replacePassword(ctx: Ctx, tx: Tx, userId: number, hashes: { from: string; to: string }) {
  const isReplaced = await renewHash(ctx, tx, userId, hashes);
  if (!isReplaced) return false;
  recordAffected(tx, userId);
  await endOtherWaysIn(ctx, tx, userId);
  return true;
}

/** A hash of the same password at the cost of now, while the user's is the one that was looked at; whether it was. */
export const renewHash = (ctx: Ctx, tx: Tx, userId: number, hashes: { from: string; to: string }) =>
  store(ctx, tx, and(eq(courseUsers.id, userId), eq(courseUsers.passwordHash, hashes.from)), hashes.to);

async function store(ctx: Ctx, tx: Tx, which: SQL | undefined, passwordHash: string) {
  const user = tenantWhere(ctx, courseUsers, which);
  const changed = await tx.update(courseUsers).set({ passwordHash }).where(user).returning({ id: courseUsers.id });
  return changed.length > 0;
}

/** Links first: one that became a session just now is ended with the sessions. */
async function endOtherWaysIn(ctx: Ctx, tx: Tx, userId: number) {
  await voidTokens(ctx, tx, userId);
  await endSessions(ctx, tx, userId);
}

/** An admin user's, who is one person at all their providers. */
export async function storeAdminPassword(tx: Tx, adminUserId: number, passwordHash: string) {
  await tx
    .update(adminUsers)
    .set({ passwordHash })
    .where(eq(adminUsers.id, recordAffected(tx, adminUserId)));
}
