import { Type, type Static } from '@sinclair/typebox';
import type { Ctx } from '../../../database/context.ts';
import { t } from '../../../core/schema/types.ts';
import { omitColumns } from '../../../database/tables/columns.ts';
import { locations } from '../../../database/tables/places.ts';
import { EmbeddedInstructor } from '../instructors/schema.ts';
import { toCountry, LocationPlace } from '../places/schema.ts';

const text = Type.String();

export const locationColumns = omitColumns(locations, ['createdAt']);
export type LocationRow = Omit<typeof locations.$inferSelect, 'createdAt'>;

export type Location = Static<typeof Location>;
export const Location = t.NamedObject('Location', {
  ...t.member.open.all({
    id: Type.Integer(),
    title: t.Nullable(text),
    custom_title: t.Nullable(text),
    address: t.Nullable(text),
    address2: t.Nullable(text),
    address3: t.Nullable(text),
    zipcode: t.Nullable(text),
    city: t.Nullable(text),
    state: text,
    county: text,
    country: text,
    country_code: text,
    idCountry: text,
    idPlace: Type.Integer(),
    place: t.Nullable(LocationPlace),
    lat: Type.Number(),
    lng: Type.Number(),
    timezone: t.Nullable(text),
    long_text: t.Nullable(text),
    short_text: t.Nullable(text),
    short_text_2: t.Nullable(text),
  }),
  idInstructor: t.member.shared(t.Nullable(Type.Integer())),
  ...t.member.open.all({ instructor: t.Nullable(EmbeddedInstructor), full_address: t.Nullable(text) }),
  ...t.member.closed.all({
    email_booking: t.Nullable(text),
    email_moreinfo: t.Nullable(text),
    cancellation_days: Type.Integer(),
    capacity_budget: Type.Integer(),
    capacity_max: Type.Integer(),
    capacity_min: Type.Integer(),
    capacity_overbook: Type.Integer(),
    capacity_wait: Type.Integer(),
  }),
  is_archived: t.member.shared(Type.Boolean()),
  ...t.member.closed.all({ is_default: Type.Boolean(), is_notification_enabled: Type.Boolean() }),
  is_virtual: t.member.open(Type.Boolean()),
  ...t.member.closed.all({
    notification_days: Type.Integer(),
    notification_role: t.Nullable(
      Type.Integer({ description: 'Id of a role of GET /v2/admin-roles, to whose admin users alone notices go' }),
    ),
  }),
});

/** GET /v2/locations. */
export type ListedLocation = Static<typeof ListedLocation>;
export const ListedLocation = t.NamedObject('ListedLocation', {
  ...Location.properties,
  updated_at: t.member.closed(t.DateTime),
});

type LocationRelations = { place: LocationPlace | null; instructor: EmbeddedInstructor | null };

export function toLocation(row: LocationRow, { place, instructor }: LocationRelations, { language }: Ctx): Location {
  // Not spread: members after a spread are added one by one, which is slow.
  const { country, idCountry } = toCountry(row.country, language);
  return {
    id: row.id,
    title: row.title,
    custom_title: row.customTitle,
    address: row.address,
    address2: row.address2,
    address3: row.address3,
    zipcode: row.zipcode,
    city: row.city,
    state: row.state,
    county: row.county,
    country,
    idCountry,
    country_code: row.country,
    idPlace: row.placeId ?? 0,
    place,
    lat: row.lat,
    lng: row.lng,
    timezone: row.timezone,
    long_text: row.longText,
    short_text: row.shortText,
    short_text_2: row.shortText2,
    idInstructor: row.instructorId,
    instructor,
    full_address: fullAddress(row, country),
    email_booking: row.emailBooking,
    email_moreinfo: row.emailMoreinfo,
    cancellation_days: row.cancellationDays,
    capacity_budget: row.capacityBudget,
    capacity_max: row.capacityMax,
    capacity_min: row.capacityMin,
    capacity_overbook: row.capacityOverbook,
    capacity_wait: row.capacityWait,
    is_archived: row.isArchived,
    is_default: row.isDefault,
    is_notification_enabled: row.isNotificationEnabled,
    is_virtual: row.isVirtual,
    notification_days: row.notificationDays,
    notification_role: row.notificationRoleId,
  };
}

/** `address, zipcode city, country` without empty parts; null for a country alone. */
function fullAddress({ address, zipcode, city }: LocationRow, country: string) {
  const nonEmpty = (texts: (string | null)[]) => texts.filter((one) => one !== null && one !== '');
  const lines = nonEmpty([address, nonEmpty([zipcode, city]).join(' ')]);
  return lines.length === 0 ? null : [...lines, country].join(', ');
}
