import { Type, type Static } from '@sinclair/typebox';
import * as codes from '../../core/schema/codes.ts';
import { t } from '../../core/schema/types.ts';
import { locations } from '../../database/tables/places.ts';

const { Optional } = Type;
const number = () => t.withDefault(t.Count(), 0);
const flag = () => t.withDefault(t.Flag(), false);

const instructorId = { ...t.Id, description: "The id of one of the school's own instructors" };

/** POST /v2/locations. */
export type LocationBody = Static<typeof LocationBody>;
export const LocationBody = t.NamedObject(
  'LocationCreate',
  t.describeFields(
    {
      title: t.stored(locations.title, t.Title()),
      custom_title: t.stored(locations.customTitle, Optional(t.Line())),
      address: t.stored(locations.address, Optional(t.Line())),
      address2: t.stored(locations.address2, Optional(t.Line())),
      address3: t.stored(locations.address3, Optional(t.Line())),
      zipcode: t.stored(locations.zipcode, Optional(t.Line())),
      city: t.stored(locations.city, Optional(t.Line())),
      state: t.stored(locations.state, Optional(t.Line())),
      county: t.stored(locations.county, Optional(t.Line())),
      country: t.stored(locations.country, t.withDefault(codes.CountryCode, 'NO')),
      place_id: t.stored(locations.placeId, Optional({ ...t.Id, description: 'The id of a place' }), 'place'),
      lat: t.stored(locations.lat, t.withDefault(Type.Number({ minimum: -90, maximum: 90 }), 0)),
      lng: t.stored(locations.lng, t.withDefault(Type.Number({ minimum: -180, maximum: 180 }), 0)),
      timezone: t.stored(locations.timezone, Optional(t.Line({ description: 'An IANA name, such as Europe/Oslo' }))),
      long_text: t.stored(locations.longText, Optional(t.Note())),
      short_text: t.stored(locations.shortText, Optional(t.Note())),
      short_text_2: t.stored(locations.shortText2, Optional(t.Note())),
      idInstructor: t.stored(locations.instructorId, Optional(instructorId), 'instructor'),
      email_booking: t.stored(locations.emailBooking, Optional(t.Email())),
      email_moreinfo: t.stored(locations.emailMoreinfo, Optional(t.Email())),
      capacity_min: t.stored(locations.capacityMin, number()),
      capacity_max: t.stored(locations.capacityMax, number()),
      capacity_overbook: t.stored(locations.capacityOverbook, number()),
      capacity_wait: t.stored(locations.capacityWait, number()),
      capacity_budget: t.stored(locations.capacityBudget, number()),
      cancellation_days: t.stored(locations.cancellationDays, number()),
      notification_days: t.stored(locations.notificationDays, number()),
      is_default: t.stored(locations.isDefault, flag()),
      is_archived: t.stored(locations.isArchived, flag()),
      is_virtual: t.stored(locations.isVirtual, flag()),
      is_notification_enabled: t.stored(locations.isNotificationEnabled, flag()),
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
