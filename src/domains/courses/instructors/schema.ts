import { Type, type Static } from '@sinclair/typebox';
import type { Ctx } from '../../../database/context.ts';
import { formatPlainTimestamp } from '../../../core/timestamps.ts';
import { t } from '../../../core/schema/types.ts';
import { hideClosedMembers } from '../../../lists/closed-members.ts';
import type { instructors } from '../../../database/tables/places.ts';

const text = Type.String();
const publicName = t.member.access({ data: 'personal', publishable: true });
const sharedPersonal = t.member.access({ data: 'personal', partner: true });

export type InstructorRow = typeof instructors.$inferSelect;

export type Instructor = Static<typeof Instructor>;
export const Instructor = t.NamedObject('Instructor', {
  id: t.member.open(Type.Integer()),
  ...publicName.all({ firstname: text, lastname: text }),
  ...t.member.personal.all({
    phone_prefix: text,
    phone: text,
    email: text,
    position: text,
    company: text,
    description: text,
  }),
  ...t.member.closed.all({
    show_on_web: Type.Boolean(),
    idUser: t.Nullable(Type.Integer()),
    archived_at: t.Nullable(t.PlainDateTime),
    created_at: t.PlainDateTime,
    updated_at: t.PlainDateTime,
  }),
});

export const toInstructor = (row: InstructorRow): Instructor => ({
  id: row.id,
  firstname: row.firstname,
  lastname: row.lastname,
  phone_prefix: row.phonePrefix,
  phone: row.phone,
  email: row.email,
  position: row.position,
  company: row.company,
  description: row.description,
  show_on_web: row.showOnWeb,
  idUser: row.adminUserId,
  archived_at: row.archivedAt === null ? null : formatPlainTimestamp(row.archivedAt),
  created_at: formatPlainTimestamp(row.createdAt),
  updated_at: formatPlainTimestamp(row.updatedAt),
});

/** An instructor inside a course date, a gathering or a location. */
export type EmbeddedInstructor = Static<typeof EmbeddedInstructor>;
export const EmbeddedInstructor = t.NamedObject('EmbeddedInstructor', {
  id: t.member.open(Type.Integer()),
  ...t.member.openPersonal.all({ title: text, name: text, fullname: text }),
  phone: t.member.personal(text),
  ...sharedPersonal.all({ company: text, position: text }),
  email: t.member.personal(text),
  is_archived: t.member.shared(Type.Boolean()),
});
const hideClosed = hideClosedMembers(EmbeddedInstructor);

export function toEmbeddedInstructor(row: InstructorRow, ctx: Ctx): EmbeddedInstructor {
  const name = `${row.firstname} ${row.lastname}`;
  const instructor = {
    id: row.id,
    title: name,
    name,
    fullname: name,
    phone: `${row.phonePrefix} ${row.phone}`.trim(),
    company: row.company,
    position: row.position,
    email: row.email,
    is_archived: row.archivedAt !== null,
  };
  return hideClosed(instructor, row, ctx);
}
