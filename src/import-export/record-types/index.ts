import type { RecordType } from '../record-type.ts';
import { campaign, voucher } from './campaigns.ts';
import { bundle, coursedate } from './coursedates.ts';
import { course } from './courses.ts';
import { order, participant } from './orders.ts';
import { customer, instructor, location, user } from './people.ts';
import { adminUser, label, partner, role, school, tag } from './provider.ts';
import { category, place } from './shared.ts';

/** All kinds of lines, in the order they are written: each refers to itself and to earlier ones alone. */
export const kinds: RecordType[] = [
  school,
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

/** Kinds whose lines have no lists in them, so that a CSV file can hold them too. */
export const flatKinds = [location, customer, user].map(({ kind }) => kind);

/** The columns of a CSV file of a flat kind, in order. */
export const csvColumns = (kind: string) =>
  [location, customer, user]
    .filter((flat) => flat.kind === kind)
    .flatMap(({ fields }) => ['ref', ...Object.keys(fields)]);
