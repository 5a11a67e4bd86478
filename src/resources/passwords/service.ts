import { hash, verify, type Options } from '@node-rs/argon2';
import { randomBytes } from 'node:crypto';
import { eq } from 'drizzle-orm';
import type { Ctx } from '../../core/context.ts';
import { notFound } from '../../core/problem.ts';
import type { Tx } from '../../database/client.ts';
import { workQueue } from '../../database/queue.ts';
import { adminUsers } from '../../database/tables/people.ts';
import { courseUsers } from '../../database/tables/users.ts';
import { own } from '../../lists/reach.ts';
import { endSessions } from '../sessions/service.ts';
import { voidTokens } from '../tokens/service.ts';

/** What OWASP's cheat sheet on storing passwords recommends for argon2id: 19 MiB, two passes, one lane. */
const cost: Options = { memoryCost: 19_456, timeCost: 2, parallelism: 1 };
const current = '$m=19456,t=2,p=1$';

/** Hashing runs in the threads that files and names are read in as well, so it never takes all of them. */
const queued = workQueue({ slots: 2, waiting: 200, waitMs: 10_000 });

/** One spelling of what can be typed in several, as RFC 8265 has it. */
const spelled = (password: string) => password.normalize('NFC');

/** Answers 503 when too many wait for theirs already. */
export const hashPassword = (password: string) => queued([], () => hash(spelled(password), cost));

let nobodys: Promise<string> | undefined;
/** The hash of a password that nobody has; made once, before the first question. */
export const prepareHashing = () => (nobodys ??= hash(randomBytes(32), cost));

/** Whether it is the password of this hash; without a hash it never is, and takes just as long. */
export async function isPassword(password: string, stored: string | null) {
  const compared = stored ?? (await prepareHashing());
  const equal = await queued([], () => verify(compared, spelled(password)));
  return equal && stored !== null;
}

/** Whether it was made at another cost than hashes are made now. */
export const isOutdated = (stored: string) => !stored.includes(current);

/** Gives a course user another password: all their sessions end, and links sent before work no more. */
export async function setPassword(ctx: Ctx, userId: number, password: string) {
  const passwordHash = await hashPassword(password);
  await ctx.write((tx) => storePassword(ctx, tx, userId, passwordHash));
}

/** The same inside a transaction, with the hash at hand. */
export async function storePassword(ctx: Ctx, tx: Tx, userId: number, passwordHash: string) {
  const user = own(ctx, courseUsers, eq(courseUsers.id, userId));
  const changed = await tx.update(courseUsers).set({ passwordHash }).where(user).returning({ id: courseUsers.id });
  if (changed.length === 0) throw notFound('Course user');
  await endSessions(ctx, tx, userId);
  await voidTokens(ctx, tx, userId);
}

/** An admin user's, who is one person at all their providers. */
export async function storeAdminPassword(tx: Tx, adminUserId: number, passwordHash: string) {
  await tx.update(adminUsers).set({ passwordHash }).where(eq(adminUsers.id, adminUserId));
}
