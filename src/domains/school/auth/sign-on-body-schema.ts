import { Type, type Static } from '@sinclair/typebox';
import { t } from '../../../core/schema/types.ts';

/** POST /v2/check-user-credentials. */
export type CredentialsBody = Static<typeof CredentialsBody>;
export const CredentialsBody = t.NamedObject(
  'Credentials',
  {
    username: t.Title({
      description: 'Compared without regard to case and to kinds of blanks, apostrophes and hyphens',
    }),
    password: Type.String({ minLength: 1, maxLength: 5_000 }),
    create_login_url: Type.Optional(
      Type.Boolean({ default: false, description: 'true: the response has a `login_url`' }),
    ),
  },
  { examples: [{ username: 'ida.ovrebo@havbris.example', password: 'fjord og fjell', create_login_url: true }] },
);
