import { Type, type Static } from '@sinclair/typebox';
import { keyProfiles } from '../../../core/key-profiles.ts';
import * as codes from '../../../core/schema/codes.ts';
import { t } from '../../../core/schema/types.ts';

const text = Type.String();

/** GET /v2/whoami. */
export type WhoAmI = Static<typeof WhoAmI>;
export const WhoAmI = t.NamedObject(
  'WhoAmI',
  t.member.open.all({
    provider: t.NamedObject('KeyProvider', t.member.open.all({ id: Type.Integer(), title: text })),
    key: t.NamedObject('WhoAmIKey', {
      id: t.member.open(Type.Integer()),
      label: t.member.closed(Type.String({ description: 'Not with a publishable key' })),
      ...t.member.open.all({
        profile: t.OneOf(keyProfiles, { description: codes.list(keyProfiles) }),
        expires_at: t.Nullable(t.DateTime),
      }),
    }),
    rate_limit: t.Nullable(
      t.NamedObject('RateLimit', t.member.open.all({ per_second: Type.Number(), burst: Type.Integer() }), {
        description: 'Requests per second of the school, and at once; null without a limit',
      }),
    ),
    timezone: Type.String({ description: 'The time zone of the service, in which times without an offset are' }),
    server_time: t.DateTime,
    version: Type.String({ description: 'The version of the interface, as in the OpenAPI document' }),
  }),
);
