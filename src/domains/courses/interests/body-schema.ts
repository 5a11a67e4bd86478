import { Type, type Static } from '@sinclair/typebox';
import { t } from '../../../core/schema/types.ts';
import { InterestLanguage } from './schema.ts';

const { Optional } = Type;

/** POST /v2/courses/:id/interests. */
export type InterestBody = Static<typeof InterestBody>;
export const InterestBody = t.NamedObject(
  'InterestCreate',
  {
    email: { ...t.Email(), description: 'Gets a mail with a link that confirms the interest' },
    name: Optional(t.Line()),
    language: Optional(InterestLanguage),
  },
  { examples: [{ email: 'ida.ovrebo@havbris.example', name: 'Ida Øvrebø', language: 'no' }] },
);
