import { Type, type Static } from '@sinclair/typebox';
import { t } from '../../../core/schema/types.ts';
import { roleIds } from './schema.ts';

const { Optional } = Type;

const nameDescription = 'The name at this school; required for a new person. An existing name is not changed';

/** POST /v2/admin-users. The e-mail names the person, so it is trimmed and normalized as titles are. */
export type AdminUserBody = Static<typeof AdminUserBody>;
export const AdminUserBody = t.NamedObject(
  'AdminUserCreate',
  {
    email: t.Email(),
    role_ids: t.List(t.Id, { description: roleIds }),
    firstname: Optional(t.Title({ description: nameDescription })),
    lastname: Optional(t.Title({ description: nameDescription })),
    position: Optional(t.LongLine()),
    phone_prefix: Optional(t.LongLine()),
    phone: Optional(t.LongLine()),
    booking_email: Optional(t.Email()),
    send_invite: Optional(
      Type.Boolean({
        default: true,
        description: 'true: a new admin user without a password gets an invitation by e-mail',
      }),
    ),
  },
  { examples: [{ email: 'kari@fjordschool.example', role_ids: [1], firstname: 'Kari', lastname: 'Nordmann' }] },
);
