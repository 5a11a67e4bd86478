import { Type, type Static } from '@sinclair/typebox';
import * as codes from '../../core/schema/codes.ts';
import * as t from '../../core/schema/types.ts';

const { Optional } = Type;
const number = () => t.withDefault(t.Count(), 0);
const flag = () => t.withDefault(t.Flag(), false);

/** POST /v2/locations. */
export type LocationBody = Static<typeof LocationBody>;
export const LocationBody = t.NamedObject(
  'LocationCreate',
  t.describeFields(
    {
      title: t.Title(),
      custom_title: Optional(t.Line()),
      address: Optional(t.Line()),
      address2: Optional(t.Line()),
      address3: Optional(t.Line()),
      zipcode: Optional(t.Line()),
      city: Optional(t.Line()),
      state: Optional(t.Line()),
      county: Optional(t.Line()),
      country: t.withDefault(codes.CountryCode, 'NO'),
      place_id: Optional({ ...t.Id, description: 'The id of a place' }),
      lat: t.withDefault(Type.Number({ minimum: -90, maximum: 90 }), 0),
      lng: t.withDefault(Type.Number({ minimum: -180, maximum: 180 }), 0),
      timezone: Optional(t.Line({ description: 'An IANA name, such as Europe/Oslo' })),
      long_text: Optional(t.Note()),
      short_text: Optional(t.Note()),
      short_text_2: Optional(t.Note()),
      idInstructor: Optional({ ...t.Id, description: "The id of one of the school's own instructors" }),
      email_booking: Optional(t.Email()),
      email_moreinfo: Optional(t.Email()),
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
    {
      title: 'Name of the location',
      custom_title: 'Name shown instead of the title',
      address: 'Street address, first line',
      address2: 'Second line',
      address3: 'Third line',
      zipcode: 'Postal code',
      city: 'City',
      state: 'State',
      county: 'County',
      lat: 'Latitude in degrees',
      lng: 'Longitude in degrees',
      long_text: 'Description',
      short_text: 'Short description',
      short_text_2: 'Second short description',
      email_booking: 'E-mail address for bookings',
      email_moreinfo: 'E-mail address for questions',
      capacity_min: 'Minimum number of participants of a new course date',
      capacity_max: 'Maximum number of participants of a new course date; 0: no limit',
      capacity_overbook: 'Seats that may be overbooked',
      capacity_wait: 'Seats on the waiting list',
      capacity_budget: 'Budgeted number of participants',
      cancellation_days: 'Days before the start until which participants may cancel',
      notification_days: 'Days before the start on which participants are reminded',
      is_default: 'true: used unless a course date names another',
      is_archived: 'true: hidden from choices',
      is_virtual: 'true: online',
      is_notification_enabled: 'true: participants are reminded',
    },
  ),
  { examples: [{ title: 'The hall', address: 'Strandgaten 1', zipcode: '5004', city: 'Bergen', capacity_max: 20 }] },
);

/** PUT /v2/locations/:id. */
export type LocationChange = Static<typeof LocationChange>;
export const LocationChange = t.NamedObject('LocationUpdate', t.partialUpdate(LocationBody.properties), {
  examples: [{ capacity_max: 24, is_archived: false }],
});
