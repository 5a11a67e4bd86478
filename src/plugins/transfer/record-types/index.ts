import type { RecordType } from '../record-type.ts';
import { campaign, voucher } from './campaigns.ts';
import { bundle, coursedate } from './coursedates.ts';
import { course } from './courses.ts';
import { order } from './orders.ts';
import { participant } from './participants.ts';
import { customer, instructor, location, user } from './people.ts';
import { adminUser, bookingSettings, catalogSettings, label, partner, role, school, tag } from './provider.ts';
import { category, place } from './shared.ts';

/** All record types in write order: each refers only to itself and to earlier ones. */
export const recordTypes: RecordType[] = [
  school,
  bookingSettings,
  catalogSettings,
  place,
  category,
  tag,
  label,
  role,
  adminUser,
  instructor,
  location,
  customer,
  user,
  course,
  bundle,
  coursedate,
  campaign,
  voucher,
  order,
  participant,
  partner,
];

/** Record types without nested lists, which CSV supports too. */
export const csvRecordTypes = [location, customer, user].map(({ kind }) => kind);

/** CSV columns of a flat record type, in order. */
export const csvColumns = (kind: string) =>
  [location, customer, user]
    .filter((flat) => flat.kind === kind)
    .flatMap(({ fields }) => ['ref', ...Object.keys(fields)]);
