import { Type, type TObject, type TSchema } from '@sinclair/typebox';
import * as t from '../../core/schema/types.ts';
import type { Ctx } from '../../database/context.ts';
import * as tables from '../../database/tables/coursedates.ts';
import { relation } from '../../lists/relations.ts';
import { defineSerializer } from '../../lists/serializer.ts';
import * as reference from '../../core/reference/courses.ts';
import * as statuses from '../../core/reference/statuses.ts';
import { includeCalendarCourse, includeCourse, loadCatalogUrl } from '../courses/serializer.ts';
import type { GatheringRow } from './gathering-schema.ts';
import { fetchGatherings } from './gathering-loaders.ts';
import { gatheringSerializer } from './gathering-serializer.ts';
import { fetchBundles, fetchChildren, fetchMembers } from './loaders.ts';
import { EmbeddedInstructor } from '../instructors/schema.ts';
import { loadLinkedInstructors } from '../instructors/serializer.ts';
import { includeLocation } from '../locations/serializer.ts';
import { placeInclude } from '../locations/place-serializer.ts';
import { providerInclude } from '../schools/provider-serializer.ts';
import { Bundle, CourseDate, DateLanguage, DateStatus, toCourseDate, toPartnerCourseDate } from './schema.ts';
import type { CourseDateRow } from './schema.ts';

const common = {
  responseSchema: CourseDate,
  relations: { catalog_url: loadCatalogUrl },
  reads: ['dates', 'catalog'] as const,
  toResponse: (row: CourseDateRow, relations: { catalog_url: string | null }, ctx: Ctx) =>
    row.providerId === ctx.providerId ? toCourseDate(row, relations) : toPartnerCourseDate(row, relations),
};

/** A date inside another one or a bundle, without includes. */
const plainSerializer = defineSerializer<CourseDateRow>()({
  ...common,
  responseSchema: t.named('EmbeddedCourseDate', CourseDate),
  includes: {},
});

/** A group of dates, with all of its dates. */
const bundleSerializer = defineSerializer<{ providerId: number; id: number; title: string }>()({
  responseSchema: Bundle,
  reads: ['dates'],
  relations: {},
  toResponse: ({ id, title }) => ({ id, title }),
  includes: {
    items: relation.includeMany<CourseDateRow & { ownerId: number }>(fetchMembers, plainSerializer, 'shown'),
  },
  requiredIncludes: ['items'],
});

const includes = {
  course: includeCourse((row: CourseDateRow) => row.courseId, 'shown'),
  location: includeLocation((row: CourseDateRow) => row.locationId),
  gatherings: relation.includeMany<GatheringRow & { ownerId: number }>(fetchGatherings, gatheringSerializer, 'shown'),
  place: placeInclude,
  teaching_language: relation.include(
    DateLanguage,
    'shown',
    async ({ language }) =>
      ({ teachingLanguageId: id }: CourseDateRow) => ({
        id,
        title: reference.teachingLanguages.get(id)?.[language] ?? '',
      }),
  ),
  status: relation.include(DateStatus, 'shown', async ({ language }) => ({ statusId: id }: CourseDateRow) => ({
    id,
    idType: id,
    title: statuses.courseDateStatuses.get(id)?.[language] ?? '',
  })),
  instructors: relation.include(
    Type.Array(EmbeddedInstructor),
    'shown',
    loadLinkedInstructors(tables.courseDateInstructors, tables.courseDateInstructors.courseDateId),
  ),
  subinstances: relation.includeMany<CourseDateRow & { ownerId: number }>(fetchChildren, plainSerializer, 'shown'),
  bundle: {
    ...relation.includeOne((row: CourseDateRow) => row.bundleId, fetchBundles, bundleSerializer, 'shown'),
    names: [],
  },
  provider: providerInclude,
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
    ...(Object.fromEntries(defaultIncludes.map((name) => [name, calendar[name].schema])) as Record<string, TSchema>),
  }) as TObject as typeof calendarSerializer.schema,
  names: [
    ...defaultIncludes,
    ...['course.products', 'course.reference_internal', 'instructors', 'provider', 'subinstances', 'bundle'],
  ],
  readAreas: (names) => calendarSerializer.readAreas([...defaultIncludes, ...names]),
  embed: (ctx, rows, query, names) => calendarSerializer.embed(ctx, rows, query, [...defaultIncludes, ...names]),
};
