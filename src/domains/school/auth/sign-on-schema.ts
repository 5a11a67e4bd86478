import { Type, type Static } from '@sinclair/typebox';
import { t } from '../../../core/schema/types.ts';

const name = Type.Optional(t.Nullable(Type.String()));

/** Only `valid` if false, so that the response does not reveal whether the user exists. */
export type SignOnResult = Static<typeof SignOnResult>;
export const SignOnResult = t.NamedObject(
  'SignOnResult',
  t.member.personal.all({
    valid: Type.Boolean(),
    user_id: Type.Optional(Type.Integer()),
    firstname: name,
    lastname: name,
    email: name,
    login_url: Type.Optional(
      Type.String({ description: "Opens the user's own page; valid once, for 15 minutes", format: 'uri' }),
    ),
  }),
);
