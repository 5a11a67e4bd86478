import { sql } from 'drizzle-orm';
import { check, index, text, uniqueIndex } from 'drizzle-orm/pg-core';
import { languages } from '../../core/reference/language.ts';
import * as c from './columns.ts';
import { courseDates } from './coursedates.ts';
import { courses } from './courses.ts';

/** E-mail addresses that get one mail when a course has a date. They count once they are confirmed by a link. */
export const courseInterests = c.tenantTable(
  'course_interests',
  {
    courseId: c.reference().notNull(),
    /** Lower case. */
    email: c.personal(text()).notNull(),
    name: c.personal(text()),
    /** Language of the mails; null is the school's. */
    language: c.operational(text({ enum: languages })),
    /** SHA-256 of the link in the last mail. */
    linkHash: c.personal(text()),
    earlierHashes: c.earlierHashes(),
    /** The mail with the last link. No foreign key: it may be deleted. */
    linkMailId: c.reference(),
    /** When it was last asked for before it was confirmed. */
    createdAt: c.instant().notNull(),
    confirmedAt: c.instant(),
    /** When the mail was queued. */
    notifiedAt: c.instant(),
    /** The date that the mail is about. */
    courseDateId: c.reference(),
  },
  (t) => [
    c.tenantKey('course_interests_course_fk', t.courseId, courses.id),
    c.tenantKey('course_interests_course_date_fk', t.courseDateId, courseDates.id),
    uniqueIndex('course_interests_open')
      .on(t.providerId, t.courseId, t.email)
      .where(sql`${t.notifiedAt} is null`),
    c.indexWhere(
      'course_interests_due',
      [t.providerId, t.courseId, t.id],
      sql`${t.confirmedAt} is not null and ${t.notifiedAt} is null`,
    ),
    uniqueIndex('course_interests_link').on(t.providerId, t.linkHash),
    c.earlierHashesIndex('course_interests_earlier_hashes', t),
    index('course_interests_course').on(t.providerId, t.courseId, t.id),
    index('course_interests_email').on(t.providerId, t.email),
    c.indexWhere('course_interests_course_date', [t.providerId, t.courseDateId], sql`${t.courseDateId} is not null`),
    check('course_interests_notified', sql`${t.notifiedAt} is null or ${t.confirmedAt} is not null`),
    check('course_interests_date', sql`(${t.notifiedAt} is null) = (${t.courseDateId} is null)`),
  ],
);
