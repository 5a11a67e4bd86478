import { eq, sql } from 'drizzle-orm';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Ctx } from '../../../database/context.ts';
import { Problem } from '../../../core/errors.ts';
import { recordEntry, type AuditContext } from '../../../database/audit-log.ts';
import { signOnFailures, usernameHash } from '../../../database/tables/access.ts';
import { tenantWhere } from '../../../lists/tenant-scope.ts';
import { hashPassword, isOutdated, isPassword, replaceHash } from './password-service.ts';
import { tokenUrl, type SignOnResult } from './schema.ts';
import { createSignInToken } from './token-service.ts';
import type { CredentialsBody } from './sign-on-body-schema.ts';
import { signOnCounts } from './session-service.ts';
import { findByUsername } from './sql.ts';

/** A course user with a verified password. */
export type Verified = Awaited<ReturnType<typeof findByUsername>>[number] & { passwordHash: string };
type Credentials = Pick<CredentialsBody, 'username' | 'password'>;
/** The key or person that asks, and the route, for the audit log. */
type SignOnCaller = Pick<AuditContext, 'actor' | 'actorId' | 'action'>;

/** Failures respond at the next multiple of this; checking the costliest importable hash takes less. */
const failureMs = 1_000;

/** Checks a course user's password; on request returns a sign-in link. */
export async function checkCredentials(ctx: Ctx, { create_login_url, ...credentials }: CredentialsBody) {
  const caller = ctx.key
    ? ({ actor: 'key', actorId: ctx.key.id } as const)
    : ({ actor: 'server', actorId: null } as const);
  const user = await verifyCredentials(ctx, credentials, { ...caller, action: 'POST /v2/check-user-credentials' });
  if (!user) return { valid: false } satisfies SignOnResult;

  const { id, firstname, lastname, email, passwordHash } = user;
  const result = { valid: true, user_id: id, firstname, lastname, email };
  if (!create_login_url) return result satisfies SignOnResult;
  // A password change meanwhile has ended all links; do not create another.
  const token = await createSignInToken(ctx, id, passwordHash);
  if (token === undefined) return { valid: false } satisfies SignOnResult;
  return { ...result, login_url: tokenUrl(ctx.settings, 'sign_in', token) } satisfies SignOnResult;
}

/**
 * Returns the course user, or undefined. Failures take the same time with any hash and without one. Ten failures for a
 * username, existing or not, within 15 minutes throw `too_many_requests` even for the right password. Each attempt that
 * is checked has an entry in the audit log.
 */
export async function verifyCredentials(
  ctx: Ctx,
  credentials: Credentials,
  caller: SignOnCaller,
): Promise<Verified | undefined> {
  const start = performance.now();
  const attempt = await startAttempt(ctx, credentials.username);
  const { userId, user } = await checkPassword(ctx, credentials).catch(async (error: unknown) => {
    await attempt.end().catch(() => undefined);
    throw error;
  });
  const result = user ? 'succeeded' : 'failed';
  signOnCounts.password[result] += 1;
  const entry = { ...caller, action: `${caller.action} (${result})`, itemIds: userId === undefined ? [] : [userId] };
  await Promise.all([user ? attempt.end() : attempt.fail(), recordEntry(ctx.unlockedStore, ctx.providerId, entry)]);
  if (user) return upgradeHash(ctx, user, credentials);
  const elapsed = performance.now() - start;
  await sleep(Math.ceil(elapsed / failureMs) * failureMs - elapsed);
  return undefined;
}

/** `userId` is that of the username, also with a wrong password. */
async function checkPassword(
  ctx: Ctx,
  { username, password }: Credentials,
): Promise<{ userId?: number | undefined; user?: Verified }> {
  const [user] = await findByUsername(ctx.unlockedStore, ctx, username);
  const passwordHash = user?.passwordHash ?? null;
  const valid = await isPassword(password, passwordHash, ctx.tenantQueueKey);
  return {
    userId: user?.id,
    ...(valid && user && passwordHash !== null && { user: { ...user, passwordHash } }),
  };
}

/** The window of the functions begin_sign_on and fail_sign_on, which also limit to 10 failures and 30 seconds. */
const window = sql`interval '15 minutes'`;
const { windowStartedAt, pending } = signOnFailures;
const failed = sql`(case when ${windowStartedAt} <= now() - ${window} then 0 else ${signOnFailures.failures} end)`;
/** The seconds until the window ends if ten have failed; 1 if other attempts are pending. */
const wait = {
  haveFailed: sql<boolean>`${failed} >= 10`,
  seconds: sql<number>`case when ${failed} < 10 then 1
    else greatest(1, ceil(extract(epoch from ${windowStartedAt} + ${window} - now())))::int end`,
};

/**
 * Counts an attempt before the password check, or concurrent guesses would bypass the limit. Pending attempts count
 * towards the limit but not as failures: the error then has a retry-after of one second. The first failure starts the
 * window.
 */
async function startAttempt(ctx: Ctx, username: string) {
  const { unlockedStore, providerId } = ctx;
  const hashed = usernameHash(username);
  const isUser = tenantWhere(ctx, signOnFailures, eq(signOnFailures.usernameHash, hashed));
  const call = (name: 'begin_sign_on' | 'fail_sign_on') =>
    unlockedStore.select({ result: sql`result` }).from(sql`${sql.raw(name)}(${providerId}, ${hashed}) as result`);
  const [begun] = await call('begin_sign_on');
  if (!begun?.result) {
    signOnCounts.password.limited += 1;
    const [found] = await unlockedStore.select(wait).from(signOnFailures).where(isUser);
    const what = found?.haveFailed ? 'failed attempts for this username' : 'attempts for this username at once';
    throw new Problem('too_many_requests', `Too many ${what}`, { retryAfter: found?.seconds ?? 1 });
  }
  return {
    end: async () => {
      const left = sql`greatest(0, ${pending} - 1)`;
      await unlockedStore.update(signOnFailures).set({ pending: left }).where(isUser);
    },
    fail: () => call('fail_sign_on'),
  };
}

/** Rehashes the password if its hash has an outdated cost; keeps the old hash if that fails. */
async function upgradeHash(ctx: Ctx, user: Verified, credentials: Credentials): Promise<Verified | undefined> {
  const { id, passwordHash: from } = user;
  if (!isOutdated(from)) return user;
  try {
    const to = await hashPassword(credentials.password, ctx.tenantQueueKey);
    const isUpgraded = await ctx.write(['people'], async (w) => {
      if (!(await replaceHash(w, id, { from, to }))) return w.tx.rollBack(false);
      w.tx.auditItem(id);
      return true;
    });
    // False if another sign-on was first, or the password has changed.
    return isUpgraded ? { ...user, passwordHash: to } : (await checkPassword(ctx, credentials)).user;
  } catch {
    return user;
  }
}
