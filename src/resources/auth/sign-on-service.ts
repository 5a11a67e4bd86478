import { setTimeout as sleep } from 'node:timers/promises';
import type { Ctx } from '../../core/context.ts';
import { Problem } from '../../core/errors.ts';
import { execute } from '../../database/statements.ts';
import type { courseUsers } from '../../database/tables/users.ts';
import { hashPassword, isOutdated, isPassword, prepareHashing, replaceHash } from './password-service.ts';
import { tokenUrl } from './token-schema.ts';
import { createSignInToken } from './token-service.ts';
import type { CredentialsBody } from './sign-on-body-schema.ts';
import { beginAttempt, endAttempt, failAttempt, findByUsername, readWait } from './sign-on-sql.ts';
import type { SignOnResult } from './sign-on-schema.ts';

type UserRow = Pick<typeof courseUsers.$inferSelect, 'id' | 'passwordHash' | 'firstname' | 'lastname' | 'email'>;
/** A course user with a verified password. */
export type Verified = UserRow & { passwordHash: string };
type Credentials = Pick<CredentialsBody, 'username' | 'password'>;

/** Failures respond at the next multiple of this; checking the costliest importable hash takes less. */
const failureMs = 1_000;

/** Call at start, or the first check takes longer. */
export const prepareSignOn = prepareHashing;

/** Checks a course user's password; on request returns a sign-in link. */
export async function checkCredentials(ctx: Ctx, { create_login_url, ...credentials }: CredentialsBody) {
  const user = await verifyCredentials(ctx, credentials);
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
 * username, existing or not, within 15 minutes throw `too_many_requests` even for the right password.
 */
export async function verifyCredentials(ctx: Ctx, credentials: Credentials): Promise<Verified | undefined> {
  const start = performance.now();
  const attempt = await startAttempt(ctx, credentials.username);
  const user = await checkPassword(ctx, credentials).catch(async (error: unknown) => {
    await attempt.end().catch(() => undefined);
    throw error;
  });
  if (user) {
    await attempt.end();
    return upgradeHash(ctx, user, credentials);
  }
  await attempt.fail();
  const elapsed = performance.now() - start;
  await sleep(Math.ceil(elapsed / failureMs) * failureMs - elapsed);
  return undefined;
}

async function checkPassword(ctx: Ctx, { username, password }: Credentials): Promise<Verified | undefined> {
  const [user] = await execute<UserRow>(ctx.unlockedStore, findByUsername, [ctx.providerId, username]);
  const passwordHash = user?.passwordHash ?? null;
  const valid = await isPassword(password, passwordHash, ctx.fairnessKey);
  return valid && user && passwordHash !== null ? { ...user, passwordHash } : undefined;
}

/**
 * Counts an attempt before the password check, or concurrent guesses would bypass the limit. Pending attempts count
 * towards the limit but not as failures: the error then has a retry-after of one second.
 */
async function startAttempt({ unlockedStore, providerId }: Ctx, username: string) {
  const values = [providerId, username];
  const [begun] = await execute(unlockedStore, beginAttempt, values);
  if (!begun) {
    const [wait] = await execute<{ haveFailed: boolean; seconds: number }>(unlockedStore, readWait, values);
    const what = wait?.haveFailed ? 'failed attempts for this username' : 'attempts for this username at once';
    throw new Problem('too_many_requests', `Too many ${what}`, { retryAfter: wait?.seconds ?? 1 });
  }
  return {
    end: () => execute(unlockedStore, endAttempt, values),
    fail: () => execute(unlockedStore, failAttempt, values),
  };
}

/** Rehashes the password if its hash has an outdated cost; keeps the old hash if that fails. */
async function upgradeHash(ctx: Ctx, user: Verified, credentials: Credentials): Promise<Verified | undefined> {
  const { id, passwordHash: from } = user;
  if (!isOutdated(from)) return user;
  try {
    const to = await hashPassword(credentials.password, ctx.fairnessKey);
    const isUpgraded = await ctx.write(['people'], async (tx) => {
      if (!(await replaceHash(ctx, tx, id, { from, to }))) return tx.rollbackNoChange(false);
      tx.recordAffected(id);
      return true;
    });
    // False if another sign-on was first, or the password has changed.
    return isUpgraded ? { ...user, passwordHash: to } : await checkPassword(ctx, credentials);
  } catch {
    return user;
  }
}
