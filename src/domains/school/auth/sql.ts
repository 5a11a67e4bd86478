import { isNull, sql } from 'drizzle-orm';
import type { UnlockedStore } from '../../../database/reader.ts';
import { statement } from '../../../database/statement.ts';
import { tokens } from '../../../database/tables/access.ts';
import { hasLink, matchFolded, toSqlText, type Value } from '../../../database/tables/columns.ts';
import { adminMemberships } from '../../../database/tables/people.ts';
import { isOfOpenProvider } from '../../../database/tables/providers.ts';
import { courseUsers } from '../../../database/tables/users.ts';
import { tenantWhere } from '../../../lists/tenant-scope.ts';

// Text: inserts that sign-ons wait for, and statements that write several tables at once.

/** A token that is not used and not expired; its provider is open, and its admin user is not detached. */
export const isUsable = (hash: Value, purpose: string) =>
  sql`${hasLink(tokens.hash, tokens.earlierHashes, hash)} and ${tokens.purpose} = ${purpose}
    and ${tokens.usedAt} is null and ${tokens.expiresAt} > now() and ${isOfOpenProvider(tokens)}
    and not exists (select from ${adminMemberships} where ${adminMemberships.providerId} = ${tokens.providerId}
      and ${adminMemberships.adminUserId} = ${tokens.adminUserId} and ${adminMemberships.detachedAt} is not null)`;

const tokenColumns = '(provider_id, hash, purpose, user_id, admin_user_id, mail_id, created_at, expires_at)';

/** Stores one row for the tokens of all attempts of a mail; none once one of them is used. */
export const storeToken = statement(
  'store_token',
  {
    takes: {
      providerId: 'int',
      hash: 'text',
      purpose: 'text',
      userId: 'int?',
      adminUserId: 'int?',
      mailId: 'int?',
      lifetime: 'interval',
    },
  },
  `insert into tokens as t ${tokenColumns}
    values (:providerId, :hash, :purpose, :userId, :adminUserId, :mailId, now(), now() + :lifetime::interval)
    on conflict (provider_id, mail_id) do update set hash = excluded.hash, earlier_hashes = t.earlier_hashes || t.hash,
      created_at = excluded.created_at, expires_at = excluded.expires_at where t.used_at is null`,
);

/** Stores a token for a user whose password was just verified; none if it has changed: `for share` blocks a change. */
export const storeSignInToken = statement(
  'store_sign_in_token',
  { takes: { providerId: 'int', userId: 'int', hash: 'text', passwordHash: 'text', lifetime: 'interval' } },
  `insert into tokens ${tokenColumns}
    select provider_id, :hash, 'sign_in', id, null, null, now(), now() + :lifetime::interval
    from course_users where provider_id = :providerId and id = :userId and password_hash = :passwordHash for share`,
);

/** Several usernames may be equal when folded: the case-equal one comes first. */
export function findByUsername(on: UnlockedStore, tenant: { providerId: number }, username: string) {
  const { id, passwordHash, firstname, lastname, email, erasedAt } = courseUsers;
  const { isEqual, order } = matchFolded(courseUsers.username, username);
  return on
    .select({ id, passwordHash, firstname, lastname, email })
    .from(courseUsers)
    .where(tenantWhere(tenant, courseUsers, isEqual, isNull(erasedAt)))
    .orderBy(order, id)
    .limit(1);
}

const auditColumns = '(provider_id, at, actor, actor_id, action, item_ids)';

/** Consumes a sign-in token, starts a session and records the action; changes no row if the token is not usable. */
export const startSessionByToken = statement(
  'start_session_by_token',
  { takes: { providerId: 'int', token: 'text', session: 'text', action: 'text' } },
  `with owner as (
      update tokens set used_at = now()
      where provider_id = :providerId and ${toSqlText(isUsable(sql.raw(':token'), 'sign_in'))}
      returning provider_id, user_id),
    started as (
      insert into sessions (provider_id, user_id, hash, created_at, used_at, expires_at)
      select provider_id, user_id, :session, now(), now(), now() + interval '12 hours' from owner)
    insert into audit_entries ${auditColumns}
      select provider_id, now(), 'course_user', user_id, :action, array[user_id] from owner`,
);

/** The beginning of the hash names a session to its user. */
export const shortHashSql = 'left(hash, 16)';

/** Deletes the sessions `ids` of a user, or all, but the current one; records the action. */
export const deleteOtherSessions = statement(
  'delete_other_sessions',
  {
    takes: { providerId: 'int', userId: 'int', current: 'text', all: 'bool', ids: 'text[]', action: 'text' },
    returns: { count: 'int' },
  },
  `with ended as (
      delete from sessions
      where provider_id = :providerId and user_id = :userId and hash <> :current and (:all or ${shortHashSql} in :ids)
      returning hash),
    recorded as (
      insert into audit_entries ${auditColumns}
      select :providerId, now(), 'course_user', :userId, :action, array[:userId::bigint]
      where exists (select from ended))
    select count(*) as count from ended`,
);
