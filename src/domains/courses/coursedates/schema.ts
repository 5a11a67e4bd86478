import { Type } from '@sinclair/typebox';
import * as codes from '../../../core/schema/codes.ts';
import { t } from '../../../core/schema/types.ts';
import type * as tables from '../../../database/tables/coursedates.ts';

const text = Type.String();
const status = codes.courseDateStatus.Item.properties;

/** Columns that no course date shows. */
export const hiddenColumns = [
  'zone',
  'startsAt',
  'endsAt',
  'placeIsSought',
  'internalNote',
  'capacityMin',
  'hasParticipants',
] as const;
/** The columns of its course that every date needs. */
type CourseHead = { title: string; slug: string; isPublic: boolean };
export type CourseDateRow = Omit<typeof tables.courseDates.$inferSelect, (typeof hiddenColumns)[number]> & {
  course: CourseHead;
};

export const DateStatus = t.NamedObject(
  'CourseDateStatus',
  t.member.open.all({ id: status.id, idType: status.id, title: text }),
);
export const Bookable = Type.Boolean({
  description: 'true: a booking of one person is given a seat now; not canceled, not after the deadline or the end',
});
export const CancellationMessage = t.Nullable(
  Type.String({ description: 'Told to the participants when the date was canceled' }),
);

/** A group of course dates; the serializer adds its `items`. */
export const Bundle = t.NamedObject('Bundle', t.member.open.all({ id: Type.Integer(), title: text }));
