import { Type, type Static } from '@sinclair/typebox';
import type { Ctx } from '../../database/context.ts';
import { formatPlainTimestamp } from '../../core/timestamps.ts';
import * as t from '../../core/schema/types.ts';
import type { instructors } from '../../database/tables/places.ts';

const text = Type.String();

export type InstructorRow = typeof instructors.$inferSelect;

export type Instructor = Static<typeof Instructor>;
export const Instructor = t.NamedObject('Instructor', {
  id: Type.Integer(),
  firstname: text,
  lastname: text,
  phone_prefix: text,
  phone: text,
  email: text,
  position: text,
  company: text,
  description: text,
  show_on_web: Type.Boolean(),
  idUser: t.Nullable(Type.Integer()),
  archived_at: t.Nullable(t.PlainDateTime),
  created_at: t.PlainDateTime,
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
});

/** An instructor inside a course date, a gathering or a location. */
export type EmbeddedInstructor = Static<typeof EmbeddedInstructor>;
export const EmbeddedInstructor = t.NamedObject('EmbeddedInstructor', {
  id: Type.Integer(),
  title: text,
  name: text,
  fullname: text,
  phone: text,
  company: text,
  position: text,
  email: text,
  is_archived: Type.Boolean(),
});

/** Omits phone and e-mail of a partner's instructor. */
export function toEmbeddedInstructor(row: InstructorRow, { providerId }: Ctx): EmbeddedInstructor {
  const name = `${row.firstname} ${row.lastname}`;
  const isOwn = row.providerId === providerId;
  return {
    id: row.id,
    title: name,
    name,
    fullname: name,
    phone: isOwn ? `${row.phonePrefix} ${row.phone}`.trim() : '',
    company: row.company,
    position: row.position,
    email: isOwn ? row.email : '',
    is_archived: row.archivedAt !== null,
  };
}
