import { and, eq } from 'drizzle-orm';
import type { Ctx } from '../../core/context.ts';
import { Problem } from '../../core/problem.ts';
import { run } from '../../database/statements.ts';
import { courseUsers } from '../../database/tables/users.ts';
import { own } from '../../lists/reach.ts';
import { hashPassword, isOutdated, isPassword, prepareHashing } from '../passwords/service.ts';
import { linkTo, type TokenOwner } from '../tokens/schema.ts';
import { makeToken } from '../tokens/service.ts';
import type { CredentialsBody } from './body.ts';
import { countAttempt, findByUsername, readWindow, takeBack } from './query.ts';
import type { SignOnAnswer } from './schema.ts';

type Found = Pick<typeof courseUsers.$inferSelect, 'id' | 'passwordHash' | 'firstname' | 'lastname' | 'email'>;

/** To be done before the first question, or that one would take longer. */
export const prepareSignOn = prepareHashing;

/**
 * Whether this is the password of one of the provider's course users. A name that nobody has costs the same time, and
 * counts the same: ten failures for a name within 15 minutes answer 429, to the right password too, until they are over.
 */
export async function checkCredentials(ctx: Ctx, { username, password, create_login_url }: CredentialsBody) {
  const attempt = await attemptFor(ctx, username);
  const [user] = await run<Found>(ctx.doors, findByUsername, [ctx.providerId, username]);
  const valid = await isPassword(password, user?.passwordHash ?? null);
  if (!valid || !user) return { valid: false } satisfies SignOnAnswer;

  await attempt.succeed();
  await renew(ctx, user, password);
  const { id, firstname, lastname, email } = user;
  const owner = { providerId: ctx.providerId, userId: id, adminUserId: null };
  const login = create_login_url ? { login_url: await signInLink(ctx, owner) } : {};
  return { valid: true, user_id: id, firstname, lastname, email, ...login } satisfies SignOnAnswer;
}

const signInLink = async ({ settings, doors }: Ctx, owner: TokenOwner) =>
  linkTo(settings, 'sign_in', await makeToken(doors, 'sign_in', owner));

/** Counted before the password is looked at, or many guesses at once would all get through. */
async function attemptFor({ doors, providerId }: Ctx, username: string) {
  const [counted] = await run<{ windowStartedAt: string }>(doors, countAttempt, [providerId, username]);
  if (!counted) {
    const [left] = await run<{ seconds: number }>(doors, readWindow, [providerId, username]);
    throw new Problem('too_many_requests', 'Too many failed attempts for this username', {
      retryAfter: left?.seconds ?? 1,
    });
  }
  return { succeed: () => run(doors, takeBack, [providerId, username, counted.windowStartedAt]) };
}

/** A hash made at an older cost is made anew, now that the password is known; unless it was changed meanwhile. */
async function renew(ctx: Ctx, { id, passwordHash: stored }: Found, password: string) {
  if (stored === null || !isOutdated(stored)) return;
  const passwordHash = await hashPassword(password);
  const unchanged = and(eq(courseUsers.id, id), eq(courseUsers.passwordHash, stored));
  await ctx.write((tx) =>
    tx
      .update(courseUsers)
      .set({ passwordHash })
      .where(own(ctx, courseUsers, unchanged)),
  );
}
