import { Type, type Static } from '@sinclair/typebox';
import type { Ctx } from '../../../database/context.ts';
import { formatPlainTimestamp } from '../../../core/timestamps.ts';
import { t } from '../../../core/schema/types.ts';
import { hideClosedMembers } from '../../../lists/closed-members.ts';
import { instructors as c } from '../../../database/tables/places.ts';
import { fieldsOf } from '../../../lists/fields.ts';

const { Optional } = Type;
const text = Type.String();

export type InstructorRow = typeof c.$inferSelect;

const { define, shownTo, open, shared, closed, personal } = fieldsOf<InstructorRow>();
const publicName = shownTo(t.member.access({ data: 'personal', publishable: true }));
const sharedPersonal = shownTo(t.member.access({ data: 'personal', partner: true }));
const openPersonal = shownTo(t.member.openPersonal);

const userId = {
  ...t.Id,
  description: 'The id of an admin user of the school; an empty value in an update disconnects',
};

const fields = define({
  id: open(c.id),
  firstname: publicName(c.firstname, t.Title()),
  lastname: publicName(c.lastname, t.Title()),
  phone_prefix: personal.longLine(c.phonePrefix),
  phone: personal.longLine(c.phone),
  email: personal.email(c.email),
  position: personal.longLine(c.position),
  company: personal.line(c.company),
  description: personal.note(c.description),
  show_on_web: closed.flag(c.showOnWeb),
  idUser: closed(c.adminUserId, Optional(userId), { to: 'admin_user' }),
  archived_at: closed(c.archivedAt, undefined, {
    shown: t.Nullable(t.PlainDateTime),
    read: (row) => formatPlainTimestamp(row.archivedAt),
    imported: true,
  }),
  created_at: closed.value(t.PlainDateTime, (row) => formatPlainTimestamp(row.createdAt)),
  updated_at: closed.value(t.PlainDateTime, (row) => formatPlainTimestamp(row.updatedAt)),
});
export const importedInstructor = fields.imported;

export type Instructor = Static<typeof Instructor>;
export const [Instructor, toInstructor] = fields.item('Instructor');

/** POST /v2/instructors. */
export type InstructorBody = Static<typeof InstructorBody>;
export const InstructorBody = fields.body('InstructorCreate', {
  examples: [{ firstname: 'Kari', lastname: 'Nordmann', email: 'kari@school.example', show_on_web: true }],
});

/** PUT /v2/instructors/:id. */
export type InstructorChange = Static<typeof InstructorChange>;
export const InstructorChange = fields.update('InstructorUpdate', { examples: [{ position: 'Head instructor' }] });

const toName = (row: InstructorRow) => `${row.firstname} ${row.lastname}`;

/** An instructor inside a course date, a gathering or a location. */
export type EmbeddedInstructor = Static<typeof EmbeddedInstructor>;
export const [EmbeddedInstructor, toWhole] = define({
  id: open(c.id),
  title: openPersonal.value(text, toName),
  name: openPersonal.value(text, toName),
  fullname: openPersonal.value(text, toName),
  phone: personal.value(text, (row) => `${row.phonePrefix} ${row.phone}`.trim()),
  company: sharedPersonal(c.company),
  position: sharedPersonal(c.position),
  email: personal(c.email),
  is_archived: shared.value(Type.Boolean(), (row) => row.archivedAt !== null),
}).item('EmbeddedInstructor');
const hideClosed = hideClosedMembers(EmbeddedInstructor);

export const toEmbeddedInstructor = (row: InstructorRow, ctx: Ctx) =>
  hideClosed(toWhole(row, undefined, ctx), row, ctx);
