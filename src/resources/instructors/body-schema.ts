import { Type, type Static } from '@sinclair/typebox';
import { partialUpdate } from '../../schema/partial-update.ts';
import { withDefault, Email, Flag, Id, Line, LongLine, Note, Title } from '../../schema/types.ts';

const { Optional } = Type;

/** What the page to try it begins with. */
const example = { firstname: 'Kari', lastname: 'Nordmann', email: 'kari@school.example', show_on_web: 1 };

/** POST /v2/instructors. */
export type InstructorBody = Static<typeof InstructorBody>;
export const InstructorBody = Type.Object(
  {
    firstname: Title(),
    lastname: Title(),
    phone_prefix: Optional(LongLine()),
    phone: Optional(LongLine()),
    email: Optional(Email()),
    position: Optional(LongLine()),
    company: Optional(Line()),
    description: Optional(Note()),
    show_on_web: withDefault(Flag(), false),
    idUser: Optional({ ...Id, description: 'The id of one of the admin users; on an update empty disconnects' }),
  },
  { examples: [example] },
);

/** PUT /v2/instructors/:id. */
export type InstructorChange = Static<typeof InstructorChange>;
export const InstructorChange = Type.Object(partialUpdate(InstructorBody.properties), {
  examples: [{ position: 'Head instructor' }],
});
