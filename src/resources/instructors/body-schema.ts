import { Type, type Static } from '@sinclair/typebox';
import * as t from '../../core/schema/types.ts';

const { Optional } = Type;

const example = { firstname: 'Kari', lastname: 'Nordmann', email: 'kari@school.example', show_on_web: true };

/** POST /v2/instructors. */
export type InstructorBody = Static<typeof InstructorBody>;
export const InstructorBody = t.NamedObject(
  'InstructorCreate',
  {
    firstname: t.Title(),
    lastname: t.Title(),
    phone_prefix: Optional(t.LongLine()),
    phone: Optional(t.LongLine()),
    email: Optional(t.Email()),
    position: Optional(t.LongLine()),
    company: Optional(t.Line()),
    description: Optional(t.Note()),
    show_on_web: t.withDefault(t.Flag(), false),
    idUser: Optional({
      ...t.Id,
      description: 'The id of an admin user of the school; an empty value in an update disconnects',
    }),
  },
  { examples: [example] },
);

/** PUT /v2/instructors/:id. */
export type InstructorChange = Static<typeof InstructorChange>;
export const InstructorChange = t.NamedObject('InstructorUpdate', t.partialUpdate(InstructorBody.properties), {
  examples: [{ position: 'Head instructor' }],
});
