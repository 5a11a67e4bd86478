import { Type, type Static } from '@sinclair/typebox';
import { Email, Flag, Id, List, LongLine, Read, Title } from '../../schema/types.ts';

const { Optional } = Type;

const nameDescription = 'The name at this school; required for a new person. A name that is there already stays';

/** POST /v2/admin-users. The e-mail names the person, so it is trimmed and normalized as titles are. */
export type AdminUserBody = Static<typeof AdminUserBody>;
export const AdminUserBody = Type.Object(
  {
    email: { ...Email(), [Read]: 'title' as const },
    role_ids: List(Id),
    firstname: Optional(Title({ description: nameDescription })),
    lastname: Optional(Title({ description: nameDescription })),
    position: Optional(LongLine()),
    phone_prefix: Optional(LongLine()),
    phone: Optional(LongLine()),
    booking_email: Optional(Email()),
    send_invite: Optional(
      Flag({ default: true, description: 'Whether a new admin user without a password gets an invitation by e-mail' }),
    ),
  },
  { examples: [{ email: 'kari@fjordschool.example', role_ids: [1], firstname: 'Kari', lastname: 'Nordmann' }] },
);
