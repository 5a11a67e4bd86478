import { Type, type Static } from '@sinclair/typebox';
import { languages } from '../../../core/reference/language.ts';
import { t } from '../../../core/schema/types.ts';
import { formatTimestamp } from '../../../core/timestamps.ts';
import type { courseInterests } from '../../../database/tables/interests.ts';

/** Days until an interest that is not confirmed ends. */
export const maxUnconfirmedDays = 7;

export const InterestLanguage = t.named(
  'InterestLanguage',
  t.OneOf(languages, { description: "Language of the mails; the school's unless sent" }),
);

export type InterestRow = typeof courseInterests.$inferSelect;

export type Interest = Static<typeof Interest>;
export const Interest = t.NamedObject('Interest', {
  ...t.member.closed.all({ id: Type.Integer(), course_id: Type.Integer() }),
  ...t.member.personal.all({ email: Type.String(), name: t.Nullable(Type.String()) }),
  ...t.member.closed.all({
    language: t.Nullable(InterestLanguage),
    confirmed_at: t.Nullable(t.DateTime),
    notified_at: t.Nullable(t.DateTime),
    coursedate_id: t.Nullable(Type.Integer({ description: 'The date that the mail is about' })),
    created_at: t.DateTime,
  }),
});

export const toInterest = (row: InterestRow): Interest => ({
  id: row.id,
  course_id: row.courseId,
  email: row.email,
  name: row.name,
  language: row.language,
  confirmed_at: formatTimestamp(row.confirmedAt),
  notified_at: formatTimestamp(row.notifiedAt),
  coursedate_id: row.courseDateId,
  created_at: formatTimestamp(row.createdAt),
});

/** POST /v2/courses/:id/interests: equal for every address. */
export type InterestReceived = Static<typeof InterestReceived>;
export const InterestReceived = t.NamedObject('InterestReceived', {
  ...t.member.closed.all({ successful: Type.Boolean(), course_id: Type.Integer() }),
  email: t.member.personal(Type.String()),
});
