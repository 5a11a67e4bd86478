import type { TObject } from '@sinclair/typebox';
import * as codes from '../../../core/schema/codes.ts';
import { byName, member, t } from '../../../core/schema/types.ts';
import { gatheringInstructors } from '../../../database/tables/coursedates.ts';
import { relation } from '../../../lists/relations.ts';
import { defineSerializer } from '../../../lists/serializer.ts';
import { providerInclude } from '../../school/schools/provider-serializer.ts';
import { includeCalendarCourse, includeCourse, loadCatalogUrl } from '../courses/serializer.ts';
import { fetchGatherings } from '../gatherings/loaders.ts';
import { Gathering, toGathering, type GatheringRow } from '../gatherings/fields.ts';
import { loadLinkedInstructors, includeInstructorsOfDate } from '../instructors/serializer.ts';
import { includeLocation } from '../locations/serializer.ts';
import { placeInclude } from '../places/serializer.ts';
import { includeWaitingList } from '../seats/serializer.ts';
import { CourseDate, toCourseDate } from './fields.ts';
import { fetchBookable, fetchBundles, fetchChildren, fetchMembers } from './loaders.ts';
import { Bookable, Bundle, CancellationMessage, DateStatus, type CourseDateRow } from './schema.ts';

const gatheringSerializer = defineSerializer<GatheringRow>()({
  reads: ['dates', 'catalog'],
  responseSchema: Gathering,
  relations: {
    instructors: loadLinkedInstructors(gatheringInstructors, gatheringInstructors.gatheringId),
  },
  toResponse: toGathering,
  includes: { location: includeLocation((row: GatheringRow) => row.locationId) },
  requiredIncludes: ['location'],
});

const includeGatherings = relation.includeMany(fetchGatherings, gatheringSerializer, member.open);

const common = {
  responseSchema: CourseDate,
  relations: { catalog_url: loadCatalogUrl },
  reads: ['dates', 'catalog'] as const,
  toResponse: (row: CourseDateRow, relations: { catalog_url: string | null }) => toCourseDate(row, relations),
};

/** A date inside another one or a bundle, without includes. */
const plainSerializer = defineSerializer<CourseDateRow>()({
  ...common,
  responseSchema: t.named('EmbeddedCourseDate', CourseDate),
});

/** A group of dates, with all of its dates. */
const bundleSerializer = defineSerializer<{ providerId: number; id: number; title: string }>()({
  responseSchema: Bundle,
  reads: ['dates'],
  toResponse: ({ id, title }) => ({ id, title }),
  includes: {
    items: relation.includeMany<CourseDateRow & { ownerId: number }>(fetchMembers, plainSerializer, t.member.open),
  },
  requiredIncludes: ['items'],
});

const includes = {
  course: includeCourse((row: CourseDateRow) => row.courseId, t.member.open),
  location: includeLocation((row: CourseDateRow) => row.locationId),
  gatherings: includeGatherings,
  place: placeInclude,
  teaching_language: relation.include(
    t.member.open(codes.teachingLanguage.Item),
    async ({ language }) =>
      (row: CourseDateRow) =>
        codes.teachingLanguage.toItem(row.teachingLanguageId, language),
  ),
  status: relation.include(t.member.open(DateStatus), async ({ language }) => ({ statusId: id }: CourseDateRow) => ({
    id,
    idType: id,
    title: codes.courseDateStatus.toItem(id, language).title,
  })),
  instructors: includeInstructorsOfDate,
  subinstances: relation.includeMany<CourseDateRow & { ownerId: number }>(
    fetchChildren,
    plainSerializer,
    t.member.open,
  ),
  bundle: {
    ...relation.includeOne((row: CourseDateRow) => row.bundleId, fetchBundles, bundleSerializer, t.member.open),
    names: [],
  },
  provider: providerInclude,
  waiting: includeWaitingList,
  bookable: relation.include(
    t.member.open(Bookable),
    relation.hasOne(fetchBookable, ({ isBookable }) => isBookable, false),
  ),
  cancellation_message: relation.include(
    t.member.closed(CancellationMessage),
    async () => (row: CourseDateRow) => row.cancellationMessage,
  ),
};

export const courseDateSerializer = defineSerializer<CourseDateRow>()({ ...common, includes });

const defaultIncludes = ['course', 'location', 'place', 'gatherings', 'teaching_language', 'status'] as const;

/** A date of one course. Its default includes may also be requested. */
export const dateOfCourseSerializer: typeof courseDateSerializer = {
  ...defineSerializer<CourseDateRow>()({
    ...common,
    responseSchema: t.named('CourseDateOfCourse', CourseDate),
    includes,
    requiredIncludes: [...defaultIncludes],
  }),
  names: courseDateSerializer.names,
};

const calendar = {
  ...includes,
  course: includeCalendarCourse((row: CourseDateRow) => row.courseId),
};
const calendarSerializer = defineSerializer<CourseDateRow>()({ ...common, includes: calendar });

/** A course date of the calendar, with default includes. */
export const nextCourseDateSerializer: typeof calendarSerializer = {
  schema: t.NamedObject('NextCourseDate', {
    ...calendarSerializer.schema.properties,
    ...byName(defaultIncludes, (name) => calendar[name].schema),
  }) as TObject as typeof calendarSerializer.schema,
  names: [
    ...defaultIncludes,
    ...[
      'course.products',
      'course.reference_internal',
      'instructors',
      'provider',
      'subinstances',
      'bundle',
      'bookable',
    ],
  ],
  readAreas: (names) => calendarSerializer.readAreas([...defaultIncludes, ...names]),
  embed: (ctx, rows, query, names) => calendarSerializer.embed(ctx, rows, query, [...defaultIncludes, ...names]),
};
