import { setTimeout as sleep } from 'node:timers/promises';
import type { Ctx } from '../../core/context.ts';
import { Problem } from '../../core/errors.ts';
import { recordAffected, rollbackNoChange } from '../../database/audit-log.ts';
import { execute } from '../../database/statements.ts';
import type { courseUsers } from '../../database/tables/users.ts';
import { hashPassword, isOutdated, isPassword, prepareHashing, renewHash } from './password-service.ts';
import { linkTo } from './token-schema.ts';
import { createSignInToken } from './token-service.ts';
import type { CredentialsBody } from './sign-on-body-schema.ts';
import { beginAttempt, endAttempt, failAttempt, findByUsername, readWait } from './sign-on-sql.ts';
import type { SignOnAnswer } from './sign-on-schema.ts';

type Found = Pick<typeof courseUsers.$inferSelect, 'id' | 'passwordHash' | 'firstname' | 'lastname' | 'email'>;
/** A course user whose password was shown, and the hash it is the password of. */
export type Verified = Found & { passwordHash: string };
type Credentials = Pick<CredentialsBody, 'username' | 'password'>;

/** A failure is answered at the next multiple of this. A check of the costliest hash that an import may bring takes less. */
const failureMs = 1_000;

/** To be done before the first question, or that one would take longer. */
export const prepareSignOn = prepareHashing;

/** Whether this is the password of one of the provider's course users, and on request a link that signs them in. */
export async function checkCredentials(ctx: Ctx, { create_login_url, ...credentials }: CredentialsBody) {
  const user = await verifyCredentials(ctx, credentials);
  if (!user) return { valid: false } satisfies SignOnAnswer;

  const { id, firstname, lastname, email, passwordHash } = user;
  const known = { valid: true, user_id: id, firstname, lastname, email };
  if (!create_login_url) return known satisfies SignOnAnswer;
  // Another password since then ended all links; this must not be one more.
  const token = await createSignInToken(ctx, id, passwordHash);
  if (token === undefined) return { valid: false } satisfies SignOnAnswer;
  return { ...known, login_url: linkTo(ctx.settings, 'sign_in', token) } satisfies SignOnAnswer;
}

/**
 * The course user whose password this is. Failures take the same time, whatever the hash costs and without one. Known and
 * unknown names count the same: ten failures within 15 minutes answer 429, to the right password too, until they are
 * over. Nothing is counted of a question that could not be answered.
 */
export async function verifyCredentials(ctx: Ctx, credentials: Credentials): Promise<Verified | undefined> {
  const start = performance.now();
  const attempt = await attemptFor(ctx, credentials.username);
  const user = await compare(ctx, credentials).catch(async (error: unknown) => {
    await attempt.end().catch(() => undefined);
    throw error;
  });
  if (user) {
    await attempt.end();
    return renew(ctx, user, credentials);
  }
  await attempt.fail();
  const elapsed = performance.now() - start;
  await sleep(Math.ceil(elapsed / failureMs) * failureMs - elapsed);
  return undefined;
}

async function compare(ctx: Ctx, { username, password }: Credentials): Promise<Verified | undefined> {
  const [user] = await execute<Found>(ctx.authStore, findByUsername, [ctx.providerId, username]);
  const passwordHash = user?.passwordHash ?? null;
  const valid = await isPassword(password, passwordHash, ctx.fairnessKey);
  return valid && user && passwordHash !== null ? { ...user, passwordHash } : undefined;
}

/**
 * Counted before the password is looked at, or many guesses at once would all get through. Attempts under way count too,
 * but not as failures: those behind them are asked to come again in a second.
 */
async function attemptFor({ authStore, providerId }: Ctx, username: string) {
  const values = [providerId, username];
  const [begun] = await execute(authStore, beginAttempt, values);
  if (!begun) {
    const [wait] = await execute<{ haveFailed: boolean; seconds: number }>(authStore, readWait, values);
    const what = wait?.haveFailed ? 'failed attempts for this username' : 'attempts for this username at once';
    throw new Problem('too_many_requests', `Too many ${what}`, { retryAfter: wait?.seconds ?? 1 });
  }
  return { end: () => execute(authStore, endAttempt, values), fail: () => execute(authStore, failAttempt, values) };
}

/** A hash made at an older cost is made anew, now that the password is known. Where that fails, the older one stays. */
async function renew(ctx: Ctx, user: Verified, credentials: Credentials): Promise<Verified | undefined> {
  const { id, passwordHash: from } = user;
  if (!isOutdated(from)) return user;
  try {
    const to = await hashPassword(credentials.password, ctx.fairnessKey);
    const isRenewed = await ctx.write(async (tx) => {
      if (!(await renewHash(ctx, tx, id, { from, to }))) return rollbackNoChange(tx, false);
      recordAffected(tx, id);
      return true;
    });
    // Another sign-on was first, or it is another password now.
    return isRenewed ? { ...user, passwordHash: to } : await compare(ctx, credentials);
  } catch {
    return user;
  }
}
