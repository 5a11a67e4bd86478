import { Type, type Static } from '@sinclair/typebox';
import * as codes from '../../../core/schema/codes.ts';
import { t } from '../../../core/schema/types.ts';
import type { Ctx } from '../../../database/context.ts';
import { omitColumns } from '../../../database/tables/columns.ts';
import { locations as c } from '../../../database/tables/places.ts';
import { fieldsOf } from '../../../lists/fields.ts';
import { EmbeddedInstructor } from '../instructors/fields.ts';
import { toCountry, LocationPlace } from '../places/schema.ts';

const { Optional } = Type;
const text = Type.String();

export const locationColumns = omitColumns(c, ['createdAt']);
export type LocationRow = Omit<typeof c.$inferSelect, 'createdAt'>;
/** Relations of a location; without the instructor, answers have the id alone. */
type Relations = { place: LocationPlace | null; instructor?: EmbeddedInstructor | null };

const { define, open, shared, closed, written } = fieldsOf<LocationRow, Relations>();
const degrees = (description: string, most: number) =>
  t.withDefault(Type.Number({ minimum: -most, maximum: most, description }), 0);
const instructorId = { ...t.Id, description: "The id of one of the school's own instructors" };

const fields = define(
  {
    id: open(c.id),
    title: open(c.title, t.Title({ description: 'Name of the location' }), { imported: Optional(t.Title()) }),
    custom_title: open.line(c.customTitle, 'Name shown instead of the title'),
    address: open.line(c.address, 'Street address, first line'),
    address2: open.line(c.address2, 'Second line'),
    address3: open.line(c.address3, 'Third line'),
    zipcode: open.line(c.zipcode, 'Postal code'),
    city: open.line(c.city, 'City'),
    state: open.line(c.state, 'State'),
    county: open.line(c.county, 'County'),
    country: open(c.country, t.withDefault(codes.CountryCode, 'NO'), {
      read: (row, _, { language }) => toCountry(row.country, language).country,
      reads: ['country_code'],
    }),
    country_code: open(c.country),
    idCountry: open.value(text, (row, _, { language }) => toCountry(row.country, language).idCountry),
    place_id: written(c.placeId, Optional({ ...t.Id, description: 'The id of a place' }), {
      to: 'place',
      // 0 without a place.
      reads: [['idPlace', (id) => (Number(id) === 0 ? null : id)], 'place.id'],
    }),
    idPlace: open.value(Type.Integer(), (row) => row.placeId ?? 0),
    place: open.value(t.Nullable(LocationPlace), (_, { place }) => place),
    lat: open(c.lat, degrees('Latitude in degrees', 90), { shown: Type.Number() }),
    lng: open(c.lng, degrees('Longitude in degrees', 180), { shown: Type.Number() }),
    timezone: open.line(c.timezone, 'An IANA name, such as Europe/Oslo'),
    long_text: open.note(c.longText, 'Description'),
    short_text: open.note(c.shortText, 'Short description'),
    short_text_2: open.note(c.shortText2, 'Second short description'),
    idInstructor: shared(c.instructorId, Optional(instructorId), {
      to: 'instructor',
      reads: ['instructor.id'],
      // A partner's instructor that is not shown has no id either.
      read: (row, { instructor }) => (instructor === undefined ? row.instructorId : (instructor?.id ?? null)),
    }),
    instructor: open.value(t.Nullable(EmbeddedInstructor), (_, { instructor }) => instructor ?? null),
    full_address: open.value(t.Nullable(text), toFullAddress),
    email_booking: closed.email(
      c.emailBooking,
      'Where notices to the school go; else to that of the course or the school',
    ),
    email_moreinfo: closed.email(c.emailMoreinfo, 'E-mail address for questions'),
    cancellation_days: closed.count(
      c.cancellationDays,
      'Days before the start until which participants may cancel, where the school lets them; 0: until the start',
    ),
    capacity_budget: closed.count(
      c.capacityBudget,
      'The school is told once a date has as many confirmed participants; 0: not',
    ),
    capacity_max: closed.count(c.capacityMax, 'Maximum number of participants of a new course date; 0: no limit'),
    capacity_min: closed.count(
      c.capacityMin,
      'Minimum number of participants of a new course date; the school is told before the deadline of a date with fewer',
    ),
    capacity_overbook: closed.count(c.capacityOverbook, 'Seats that may be overbooked'),
    capacity_wait: closed.count(c.capacityWait, 'Seats on the waiting list'),
    notification_days: closed.count(
      c.notificationDays,
      'Days before the start on which participants are reminded, and before the deadline on which the school is told of a date under its minimum; 0: never',
    ),
    is_archived: shared.flag(c.isArchived, 'true: hidden from choices'),
    is_default: closed.flag(c.isDefault, 'true: used unless a course date names another'),
    is_notification_enabled: closed.flag(
      c.isNotificationEnabled,
      'true: of the notices to the school that are switched on, only those about dates at such locations are sent; all are, while no location has it',
    ),
    is_virtual: open.flag(c.isVirtual, 'true: online'),
    notification_role: closed(c.notificationRoleId, undefined, {
      to: 'role',
      shown: t.Nullable(
        Type.Integer({ description: 'Id of a role of GET /v2/admin-roles, to whose admin users alone notices go' }),
      ),
    }),
    updated_at: closed(c.updatedAt),
  },
  {
    answer: 'notification_days notification_role updated_at',
    body:
      'capacity_min capacity_max capacity_overbook capacity_wait capacity_budget cancellation_days notification_days ' +
      'is_default is_archived is_virtual is_notification_enabled',
  },
);
export const importedLocation = fields.imported;
export const { inputAliases } = fields;

export type Location = Static<typeof Location>;
export const [Location, toLocation] = fields.item('Location', ['updated_at']);

/** GET /v2/locations. */
export type ListedLocation = Static<typeof ListedLocation>;
export const [ListedLocation, toListedLocation] = fields.item('ListedLocation');

/** POST /v2/locations. */
export type LocationBody = Static<typeof LocationBody>;
export const LocationBody = fields.body('LocationCreate', {
  examples: [{ title: 'The hall', address: 'Strandgaten 1', zipcode: '5004', city: 'Bergen', capacity_max: 20 }],
});

/** PUT /v2/locations/:id. */
export type LocationChange = Static<typeof LocationChange>;
export const LocationChange = fields.update('LocationUpdate', { examples: [{ capacity_max: 24, is_archived: false }] });

/** `address, zipcode city, country` without empty parts; null for a country alone. */
function toFullAddress({ address, zipcode, city, country }: LocationRow, _: unknown, { language }: Ctx) {
  const nonEmpty = (texts: (string | null)[]) => texts.filter((one) => one !== null && one !== '');
  const lines = nonEmpty([address, nonEmpty([zipcode, city]).join(' ')]);
  return lines.length === 0 ? null : [...lines, toCountry(country, language).country].join(', ');
}
