import { Type, type Static } from '@sinclair/typebox';
import * as codes from '../../core/schema/codes.ts';
import { t } from '../../core/schema/types.ts';
import { locations } from '../../database/tables/places.ts';

const { Optional } = Type;
const number = (description: string) => ({ ...t.withDefault(t.Count(), 0), description });
const flag = (description: string) => ({ ...t.withDefault(Type.Boolean(), false), description });
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
    custom_title: t.stored(
      locations.customTitle,
      Optional({ ...t.Line(), description: 'Name shown instead of the title' }),
    ),
    address: t.stored(locations.address, Optional({ ...t.Line(), description: 'Street address, first line' })),
    address2: t.stored(locations.address2, Optional({ ...t.Line(), description: 'Second line' })),
    address3: t.stored(locations.address3, Optional({ ...t.Line(), description: 'Third line' })),
    zipcode: t.stored(locations.zipcode, Optional({ ...t.Line(), description: 'Postal code' })),
    city: t.stored(locations.city, Optional({ ...t.Line(), description: 'City' })),
    state: t.stored(locations.state, Optional({ ...t.Line(), description: 'State' })),
    county: t.stored(locations.county, Optional({ ...t.Line(), description: 'County' })),
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
      Optional({ ...t.Email(), description: 'E-mail address for bookings' }),
    ),
    email_moreinfo: t.stored(
      locations.emailMoreinfo,
      Optional({ ...t.Email(), description: 'E-mail address for questions' }),
    ),
    capacity_min: t.stored(locations.capacityMin, number('Minimum number of participants of a new course date')),
    capacity_max: t.stored(
      locations.capacityMax,
      number('Maximum number of participants of a new course date; 0: no limit'),
    ),
    capacity_overbook: t.stored(locations.capacityOverbook, number('Seats that may be overbooked')),
    capacity_wait: t.stored(locations.capacityWait, number('Seats on the waiting list')),
    capacity_budget: t.stored(locations.capacityBudget, number('Budgeted number of participants')),
    cancellation_days: t.stored(
      locations.cancellationDays,
      number('Days before the start until which participants may cancel'),
    ),
    notification_days: t.stored(
      locations.notificationDays,
      number('Days before the start on which participants are reminded'),
    ),
    is_default: t.stored(locations.isDefault, flag('true: used unless a course date names another')),
    is_archived: t.stored(locations.isArchived, flag('true: hidden from choices')),
    is_virtual: t.stored(locations.isVirtual, flag('true: online')),
    is_notification_enabled: t.stored(locations.isNotificationEnabled, flag('true: participants are reminded')),
  },
  { examples: [{ title: 'The hall', address: 'Strandgaten 1', zipcode: '5004', city: 'Bergen', capacity_max: 20 }] },
);

/** PUT /v2/locations/:id. */
export type LocationChange = Static<typeof LocationChange>;
export const LocationChange = t.NamedObject('LocationUpdate', t.partialUpdate(LocationBody.properties), {
  examples: [{ capacity_max: 24, is_archived: false }],
});
