import { Type, type Static, type TSchema } from '@sinclair/typebox';
import { Email, Flag, Id, Line, Note, Nullable, Title } from '../../core/schema.ts';

const { Optional } = Type;

const texts = {
  phone_prefix: Line(),
  phone: Line(),
  email: Email(),
  position: Line(),
  company: Line(),
  description: Note(),
};
const idUser = { ...Id, description: 'The id of one of the admin users; on an update empty disconnects' };

/** What the page to try it begins with. */
const example = { firstname: 'Kari', lastname: 'Nordmann', email: 'kari@school.example', show_on_web: 1 };

const cleared = <S extends TSchema>(field: S) => Optional(Nullable(field));

/** POST /v2/instructors. */
export type InstructorBody = Static<typeof InstructorBody>;
export const InstructorBody = Type.Object(
  {
    firstname: Title(),
    lastname: Title(),
    phone_prefix: Optional(texts.phone_prefix),
    phone: Optional(texts.phone),
    email: Optional(texts.email),
    position: Optional(texts.position),
    company: Optional(texts.company),
    description: Optional(texts.description),
    show_on_web: Optional(Flag({ default: false })),
    idUser: Optional(idUser),
  },
  { examples: [example] },
);

/** PUT /v2/instructors/:id: what is not sent keeps its value, what is sent empty is cleared. */
export type InstructorChange = Static<typeof InstructorChange>;
export const InstructorChange = Type.Object(
  {
    firstname: cleared(Title()),
    lastname: cleared(Title()),
    phone_prefix: cleared(texts.phone_prefix),
    phone: cleared(texts.phone),
    email: cleared(texts.email),
    position: cleared(texts.position),
    company: cleared(texts.company),
    description: cleared(texts.description),
    show_on_web: Optional(Flag()),
    idUser: cleared(idUser),
  },
  { examples: [{ position: 'Head instructor' }] },
);
