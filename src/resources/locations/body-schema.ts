import { Type, type Static } from '@sinclair/typebox';
import { partialUpdate } from '../../schema/partial-update.ts';
import { Count, withDefault, Email, Flag, Id, Line, Note, Title, UpperCode } from '../../schema/types.ts';
import { countryCodes } from '../../reference/countries.ts';

const { Optional } = Type;
const number = () => withDefault(Count(), 0);
const flag = () => withDefault(Flag(), false);

/** POST /v2/locations. */
export type LocationBody = Static<typeof LocationBody>;
export const LocationBody = Type.Object(
  {
    title: Title(),
    custom_title: Optional(Line()),
    address: Optional(Line()),
    address2: Optional(Line()),
    address3: Optional(Line()),
    zipcode: Optional(Line()),
    city: Optional(Line()),
    state: Optional(Line()),
    county: Optional(Line()),
    country: withDefault(UpperCode(countryCodes, { description: 'Two letters' }), 'NO'),
    place_id: Optional({ ...Id, description: 'The id of a place' }),
    lat: withDefault(Type.Number({ minimum: -90, maximum: 90 }), 0),
    lng: withDefault(Type.Number({ minimum: -180, maximum: 180 }), 0),
    timezone: Optional(Line({ description: 'An IANA name, such as Europe/Oslo' })),
    long_text: Optional(Note()),
    short_text: Optional(Note()),
    short_text_2: Optional(Note()),
    idInstructor: Optional({ ...Id, description: "The id of one of the school's own instructors" }),
    email_booking: Optional(Email()),
    email_moreinfo: Optional(Email()),
    capacity_min: number(),
    capacity_max: number(),
    capacity_overbook: number(),
    capacity_wait: number(),
    capacity_budget: number(),
    cancellation_days: number(),
    notification_days: number(),
    is_default: flag(),
    is_archived: flag(),
    is_virtual: flag(),
    is_notification_enabled: flag(),
  },
  { examples: [{ title: 'The hall', address: 'Strandgaten 1', zipcode: '5004', city: 'Bergen', capacity_max: 20 }] },
);

/** PUT /v2/locations/:id. */
export type LocationChange = Static<typeof LocationChange>;
export const LocationChange = Type.Object(partialUpdate(LocationBody.properties), {
  examples: [{ capacity_max: 24, is_archived: 0 }],
});
