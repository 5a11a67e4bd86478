import { eq, getTableColumns, sql } from 'drizzle-orm';
import type { Language } from '../../../core/reference/language.ts';
import type { Settings } from '../../../core/settings.ts';
import { isEmailAddress, normalizeLineBreaks } from '../../../core/text.ts';
import type { Database, Reader } from '../../../database/client.ts';
import { outbox } from '../../../database/tables/outbox.ts';
import { adminMemberships, adminUsers } from '../../../database/tables/people.ts';
import { bookingSettings, providers, type MailTexts } from '../../../database/tables/providers.ts';
import { courseUsers } from '../../../database/tables/users.ts';
import { sameTenant, tenantWhere } from '../../../lists/tenant-scope.ts';
import type { ClaimedMail, Letter, MailCalendar, Schedule } from './mail-types.ts';
import { recipient } from './service.ts';

/** What a mail of each group has: its recipient, its school and what it refers to. */
export type StoredMail = NonNullable<Awaited<ReturnType<typeof loadMail>>>;

export async function loadMail(db: Reader, { providerId, id }: Pick<ClaimedMail, 'providerId' | 'id'>) {
  const [found] = await db
    .select({
      ...getTableColumns(outbox),
      /** `yyyymmddThhmmssZ`. */
      createdAt: sql<string>`to_char(${outbox.createdAt} at time zone 'UTC', 'YYYYMMDD"T"HH24MISS"Z"')`,
      before: sql<Schedule | null>`${outbox.before}`,
      isDetached: sql<boolean>`${adminMemberships.detachedAt} is not null`,
      isErased: sql<boolean>`${courseUsers.erasedAt} is not null`,
      isPlaceholder: sql<boolean>`coalesce(${courseUsers.isPlaceholder}, false)`,
      email: sql<string>`coalesce(${recipient}, '')`,
      username: sql<string>`coalesce(${courseUsers.username}, ${adminUsers.email}, '')`,
      firstname: sql<string | null>`coalesce(${courseUsers.firstname}, ${adminMemberships.firstname})`,
      lastname: sql<string>`coalesce(${courseUsers.lastname}, ${adminMemberships.lastname}, '')`,
      ...{ school: providers.title, phone: providers.phone, webAddress: providers.webAddress },
      schoolContact: sql<string>`coalesce(nullif(${providers.emailBooking}, ''), ${providers.email})`,
      ...{ schoolLanguage: bookingSettings.language, schoolTexts: bookingSettings.texts },
    })
    .from(outbox)
    .innerJoin(providers, eq(providers.id, outbox.providerId))
    .leftJoin(courseUsers, sameTenant(courseUsers, outbox, eq(courseUsers.id, outbox.userId)))
    .leftJoin(
      adminMemberships,
      sameTenant(adminMemberships, outbox, eq(adminMemberships.adminUserId, outbox.adminUserId)),
    )
    .leftJoin(adminUsers, eq(adminUsers.id, adminMemberships.adminUserId))
    .leftJoin(bookingSettings, sameTenant(bookingSettings, outbox))
    .where(tenantWhere({ providerId }, outbox, eq(outbox.id, id)));
  return found && joinLines(found);
}

/** What a group knows of the recipient. */
type Addressee = {
  language?: Language | null;
  firstname?: string | null;
  /** The address of the course. */
  contact?: string | undefined;
  /** The school's own mails have neither its words nor its reply address. */
  isSchool?: boolean;
};

/** A mail with its language and the school's words. */
export type Mail = StoredMail & {
  firstname: string;
  language: Language;
  /** The school's reply address, or empty. */
  contact: string;
  /** The school's own, in place of the usual ones. */
  words: Pick<MailTexts, 'greeting' | 'footer'>;
};

export type Sources = { database: Pick<Database, 'unlocked'>; settings: Settings; from: string };

type Outdated = { outdated: string };
export type Written = { letter: Letter; calendar?: MailCalendar | undefined; token?: string | null; name?: string };
/** A mail that is to be sent; `write` may find out that it is no longer true, or that it waits for a digest. */
export type Prepared = { mail: Mail; write(): Promise<Written | Outdated | 'waits'> };

/** Loads the data of a mail of one group. */
export type Prepare = (sources: Sources, mail: StoredMail, claimed: ClaimedMail) => Promise<Prepared | Outdated>;

/** Selects the language and the school's words, and leaves out an invalid reply address. */
export function addressMail(
  mail: StoredMail,
  { language, firstname = null, contact: ofCourse = '', isSchool = false }: Addressee,
  { defaultLanguage }: Pick<Settings, 'defaultLanguage'>,
): Mail {
  const chosen = language ?? mail.schoolLanguage ?? defaultLanguage;
  const isToStaff = isSchool || mail.adminUserId !== null;
  const { greeting = null, footer = null, reply_to = null } = (!isToStaff && mail.schoolTexts?.[chosen]) || {};
  const contact = reply_to ?? (ofCourse || mail.schoolContact);
  return {
    ...mail,
    firstname: mail.firstname ?? firstname ?? '',
    language: chosen,
    words: { greeting, footer },
    contact: !isSchool && isEmailAddress(contact) ? contact : '',
  };
}

/** Texts of several lines. */
const multiline = ['footer', 'description', 'cancellationMessage', 'moveMessage', 'placeAdditionalInfo'];

/** Replaces line breaks and control characters, which could inject headers, in all but texts of several lines. */
export function joinLines<T>(value: T, name = ''): T {
  const join = (inner: unknown, key: string): unknown => {
    if (typeof inner === 'string') return multiline.includes(key) ? normalizeLineBreaks(inner).trim() : joinLine(inner);
    if (Array.isArray(inner)) return inner.map((one) => join(one, ''));
    if (typeof inner !== 'object' || inner === null) return inner;
    return Object.fromEntries(Object.entries(inner).map(([key, one]) => [key, join(one, key)]));
  };
  return join(value, name) as T;
}

const joinLine = (text: string) => text.replace(/[\s\p{Cc}]+/gu, ' ').trim();
