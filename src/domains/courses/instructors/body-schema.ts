import { Type, type Static } from '@sinclair/typebox';
import { t } from '../../../core/schema/types.ts';
import { instructors } from '../../../database/tables/places.ts';

const { Optional } = Type;

const example = { firstname: 'Kari', lastname: 'Nordmann', email: 'kari@school.example', show_on_web: true };

const userId = {
  ...t.Id,
  description: 'The id of an admin user of the school; an empty value in an update disconnects',
};

/** POST /v2/instructors. */
export type InstructorBody = Static<typeof InstructorBody>;
export const InstructorBody = t.NamedObject(
  'InstructorCreate',
  {
    firstname: t.stored(instructors.firstname, t.Title()),
    lastname: t.stored(instructors.lastname, t.Title()),
    phone_prefix: t.stored(instructors.phonePrefix, Optional(t.LongLine())),
    phone: t.stored(instructors.phone, Optional(t.LongLine())),
    email: t.stored(instructors.email, Optional(t.Email())),
    position: t.stored(instructors.position, Optional(t.LongLine())),
    company: t.stored(instructors.company, Optional(t.Line())),
    description: t.stored(instructors.description, Optional(t.Note())),
    show_on_web: t.stored(instructors.showOnWeb, t.withDefault(Type.Boolean(), false)),
    idUser: t.stored(instructors.adminUserId, Optional(userId), 'admin_user'),
  },
  { examples: [example] },
);

/** PUT /v2/instructors/:id. */
export type InstructorChange = Static<typeof InstructorChange>;
export const InstructorChange = t.NamedObject('InstructorUpdate', t.partialUpdate(InstructorBody.properties), {
  examples: [{ position: 'Head instructor' }],
});
