import { Type, type Static } from '@sinclair/typebox';
import * as codes from '../../../core/schema/codes.ts';
import { t } from '../../../core/schema/types.ts';
import { locations } from '../../../database/tables/places.ts';

const { Optional } = Type;
const number = (column: object, description: string) =>
  t.stored(column, { ...t.withDefault(t.Count(), 0), description });
const flag = (column: object, description: string) =>
  t.stored(column, { ...t.withDefault(Type.Boolean(), false), description });
const latitude = {
  ...t.withDefault(Type.Number({ minimum: -90, maximum: 90 }), 0),
  description: 'Latitude in degrees',
};
const longitude = {
  ...t.withDefault(Type.Number({ minimum: -180, maximum: 180 }), 0),
  description: 'Longitude in degrees',
};

const instructorId = { ...t.Id, description: "The id of one of the school's own instructors" };

/** POST /v2/locations. */
export type LocationBody = Static<typeof LocationBody>;
export const LocationBody = t.NamedObject(
  'LocationCreate',
  {
    title: t.stored(locations.title, { ...t.Title(), description: 'Name of the location' }),
    custom_title: t.storedLine(locations.customTitle, 'Name shown instead of the title'),
    address: t.storedLine(locations.address, 'Street address, first line'),
    address2: t.storedLine(locations.address2, 'Second line'),
    address3: t.storedLine(locations.address3, 'Third line'),
    zipcode: t.storedLine(locations.zipcode, 'Postal code'),
    city: t.storedLine(locations.city, 'City'),
    state: t.storedLine(locations.state, 'State'),
    county: t.storedLine(locations.county, 'County'),
    country: t.stored(locations.country, t.withDefault(codes.CountryCode, 'NO')),
    place_id: t.stored(locations.placeId, Optional({ ...t.Id, description: 'The id of a place' }), 'place'),
    lat: t.stored(locations.lat, latitude),
    lng: t.stored(locations.lng, longitude),
    timezone: t.stored(locations.timezone, Optional(t.Line({ description: 'An IANA name, such as Europe/Oslo' }))),
    long_text: t.stored(locations.longText, Optional({ ...t.Note(), description: 'Description' })),
    short_text: t.stored(locations.shortText, Optional({ ...t.Note(), description: 'Short description' })),
    short_text_2: t.stored(locations.shortText2, Optional({ ...t.Note(), description: 'Second short description' })),
    idInstructor: t.stored(locations.instructorId, Optional(instructorId), 'instructor'),
    email_booking: t.stored(
      locations.emailBooking,
      Optional({
        ...t.Email(),
        description: 'Where notices to the school go; else to that of the course or the school',
      }),
    ),
    email_moreinfo: t.stored(
      locations.emailMoreinfo,
      Optional({ ...t.Email(), description: 'E-mail address for questions' }),
    ),
    capacity_min: number(
      locations.capacityMin,
      'Minimum number of participants of a new course date; the school is told before the deadline of a date with fewer',
    ),
    capacity_max: number(locations.capacityMax, 'Maximum number of participants of a new course date; 0: no limit'),
    capacity_overbook: number(locations.capacityOverbook, 'Seats that may be overbooked'),
    capacity_wait: number(locations.capacityWait, 'Seats on the waiting list'),
    capacity_budget: number(
      locations.capacityBudget,
      'The school is told once a date has as many confirmed participants; 0: not',
    ),
    cancellation_days: number(
      locations.cancellationDays,
      'Days before the start until which participants may cancel, where the school lets them; 0: until the start',
    ),
    notification_days: number(
      locations.notificationDays,
      'Days before the start on which participants are reminded, and before the deadline on which the school is told of a date under its minimum; 0: never',
    ),
    is_default: flag(locations.isDefault, 'true: used unless a course date names another'),
    is_archived: flag(locations.isArchived, 'true: hidden from choices'),
    is_virtual: flag(locations.isVirtual, 'true: online'),
    is_notification_enabled: flag(
      locations.isNotificationEnabled,
      'true: of the notices to the school that are switched on, only those about dates at such locations are sent; all are, while no location has it',
    ),
  },
  { examples: [{ title: 'The hall', address: 'Strandgaten 1', zipcode: '5004', city: 'Bergen', capacity_max: 20 }] },
);

/** PUT /v2/locations/:id. */
export type LocationChange = Static<typeof LocationChange>;
export const LocationChange = t.NamedObject('LocationUpdate', t.partialUpdate(LocationBody.properties), {
  examples: [{ capacity_max: 24, is_archived: false }],
});
