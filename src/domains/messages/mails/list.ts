import { eq, or, sql, type SQL } from 'drizzle-orm';
import type { PgColumn } from 'drizzle-orm/pg-core';
import { EmailParameter, t } from '../../../core/schema/types.ts';
import type { Ctx } from '../../../database/context.ts';
import { caseFolded } from '../../../database/tables/columns.ts';
import { bookings } from '../../../database/tables/orders.ts';
import { isWithoutPerson, outbox } from '../../../database/tables/outbox.ts';
import { participants } from '../../../database/tables/participants.ts';
import { adminMemberships, adminUsers } from '../../../database/tables/people.ts';
import { providers } from '../../../database/tables/providers.ts';
import { courseUsers } from '../../../database/tables/users.ts';
import { defineList } from '../../../lists/define-list.ts';
import { filter } from '../../../lists/filters.ts';
import { defineSerializer } from '../../../lists/serializer.ts';
import { tenantWhere } from '../../../lists/tenant-scope.ts';
import { fetchMails, isNoticeSql, noticeEmailSql, schoolEmailSql, tables } from './loaders.ts';
import { Mail, MailPurpose, MailState, toMail, type MailRow } from './schema.ts';

const mailSerializer = defineSerializer<MailRow>()({ reads: ['people'], responseSchema: Mail, toResponse: toMail });

const states: Record<MailState, SQL> = {
  waiting: sql`${outbox.sentAt} is null and ${outbox.failedAt} is null`,
  sent: sql`${outbox.sentAt} is not null`,
  failed: sql`${outbox.failedAt} is not null`,
};

const ofParticipants = (ctx: Ctx, bookingId: number) =>
  ctx.db
    .select({ id: participants.id })
    .from(participants)
    .where(tenantWhere(ctx, participants, eq(participants.bookingId, bookingId)));

/** Each condition has an index of its own. */
function hasRecipient(ctx: Ctx, email: string): SQL {
  const isEqual = (address: Parameters<typeof caseFolded>[0]) => sql`${caseFolded(address)} = ${caseFolded(email)}`;
  const isOneOf = (column: PgColumn, ids: { getSQL(): SQL }) => sql`${column} = any(array(${ids}))`;
  const users = ctx.db
    .select({ id: courseUsers.id })
    .from(courseUsers)
    .where(tenantWhere(ctx, courseUsers, isEqual(courseUsers.email)));
  const booked = ctx.db
    .select({ id: bookings.id })
    .from(bookings)
    .where(tenantWhere(ctx, bookings, isEqual(bookings.bookerEmail)));
  const admins = (address: SQL) =>
    ctx.db
      .select({ id: adminMemberships.adminUserId })
      .from(adminMemberships)
      .innerJoin(adminUsers, eq(adminUsers.id, adminMemberships.adminUserId))
      .where(tenantWhere(ctx, adminMemberships, isEqual(address)));
  const schools = ctx.db
    .select({ isEqual: isEqual(sql`${sql.raw(schoolEmailSql(tables))}`) })
    .from(providers)
    .where(eq(providers.id, outbox.providerId));
  const isNotice = sql.raw(isNoticeSql(tables.mail));
  const byEmail = admins(sql`${adminUsers.email}`);
  const byNoticeEmail = admins(sql`coalesce(${sql.raw(noticeEmailSql(tables.member))}, ${adminUsers.email})`);
  return or(
    isEqual(outbox.address),
    isOneOf(outbox.userId, users),
    isOneOf(outbox.bookingId, booked),
    sql`${isOneOf(outbox.adminUserId, byEmail)} and not ${isNotice}`,
    sql`${isOneOf(outbox.adminUserId, byNoticeEmail)} and ${isNotice}`,
    sql`${isWithoutPerson(outbox)} and (${schools})`,
  )!;
}

export const mailList = defineList({
  table: outbox,
  serializer: mailSerializer,
  sorting: { name: 'MailOrder' },
  filters: {
    recipient: filter.indexed(
      EmailParameter({
        description: 'Only mails to this e-mail address, without regard to case; all unless sent',
        examples: ['ida.ovrebo@havbris.example'],
      }),
      { condition: (email, ctx) => hasRecipient(ctx, email) },
      // With `coalesce` no index finds the rows: they are read in the order of the list.
      (email, ctx) => sql`coalesce(${hasRecipient(ctx, email)}, false)`,
    ),
    purpose: filter.plain({ ...MailPurpose, description: 'Only mails with this purpose; all unless sent' }, (purpose) =>
      eq(outbox.purpose, purpose),
    ),
    state: filter.indexed(
      { ...MailState, description: 'Only mails in this state; all unless sent' },
      // Most mails are sent.
      { isBroad: (state) => (state === 'sent' ? sql`true` : sql`false`) },
      (state) => states[state],
    ),
    participant_id: filter.selective(
      { ...t.Id, description: 'Only mails about this participant; all unless sent' },
      (id) => eq(outbox.participantId, id),
    ),
    booking_id: filter.selective(
      { ...t.Id, description: 'Only mails about this booking or one of its participants; all unless sent' },
      (id, ctx) => or(eq(outbox.bookingId, id), sql`${outbox.participantId} = any(array(${ofParticipants(ctx, id)}))`),
    ),
    ...filter.dateRange('created_at', outbox.createdAt),
  },
  fetch: fetchMails,
});
