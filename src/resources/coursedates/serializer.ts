import { and, asc, eq, isNull, or, sql, type Placeholder } from 'drizzle-orm';
import { Type, type TObject, type TSchema } from '@sinclair/typebox';
import type { Ctx } from '../../core/context.ts';
import { omitColumns } from '../../database/tables/columns.ts';
import { bundles, courseDateInstructors, courseDates } from '../../database/tables/coursedates.ts';
import { courses } from '../../database/tables/courses.ts';
import { batchLoader } from '../../lists/loaders.ts';
import { relation } from '../../lists/relations.ts';
import { defineSerializer } from '../../lists/serializer.ts';
import { teachingLanguages } from '../../reference/courses.ts';
import { courseDateStatuses } from '../../reference/statuses.ts';
import { includeCalendarCourse, includeCourse, isPublicCourse, loadCatalogUrl } from '../courses/serializer.ts';
import type { GatheringRow } from './gathering-schema.ts';
import { fetchGatherings, gatheringSerializer } from './gathering-serializer.ts';
import { EmbeddedInstructor } from '../instructors/schema.ts';
import { loadLinkedInstructors } from '../instructors/serializer.ts';
import { includeLocation } from '../locations/serializer.ts';
import { placeInclude } from '../locations/place-serializer.ts';
import { providerInclude } from '../schools/provider-serializer.ts';
import { Bundle, CourseDate, DateLanguage, DateStatus, toCourseDate, toPartnerCourseDate } from './schema.ts';
import { hiddenColumns, type CourseDateRow } from './schema.ts';
import { sameTenant } from '../../lists/tenant-scope.ts';

/** The deadline ends with its day in the time zone of the date. */
export const isShownAfterDeadline = or(
  eq(courseDates.visibleWhenPassedDeadline, true),
  sql`${courseDates.deadlineAt} >= timezone(${courseDates.zone}, now())::date`,
)!;

/** Course dates that the public and partners may see. */
export const isPublicDate = and(
  eq(courseDates.isVisible, true),
  isNull(courseDates.deletedAt),
  isShownAfterDeadline,
  sql`exists (select from ${courses} where ${sameTenant(
    courses,
    courseDates,
    eq(courses.id, courseDates.courseId),
    isPublicCourse,
  )})`,
)!;

/** Dates inside another one: all own ones, of a partner's only public ones. */
const isEmbeddable = ({ providerId }: { providerId: Placeholder }) =>
  and(isNull(courseDates.deletedAt), or(eq(courseDates.providerId, providerId), isPublicDate));

const dateColumns = {
  ...omitColumns(courseDates, hiddenColumns),
  course: { title: courses.title, slug: courses.slug },
};
const ofCourse = sameTenant(courses, courseDates, eq(courses.id, courseDates.courseId));

const common = {
  responseSchema: CourseDate,
  relations: { catalog_url: loadCatalogUrl },
  toResponse: (row: CourseDateRow, relations: { catalog_url: string | null }, ctx: Ctx) =>
    row.providerId === ctx.providerId ? toCourseDate(row, relations) : toPartnerCourseDate(row, relations),
};

/** A date inside another one or a bundle, without includes. */
const plainSerializer = defineSerializer<CourseDateRow>()({ ...common, includes: {} });

const fetchChildren = batchLoader((ctx, keys) =>
  ctx.db
    .select({ ...dateColumns, ownerId: sql<number>`${courseDates.parentId}`.mapWith(Number) })
    .from(courseDates)
    .innerJoin(courses, ofCourse)
    .where(and(keys.match(courseDates, courseDates.parentId), isEmbeddable(ctx)))
    .orderBy(asc(courseDates.id)),
);

const fetchMembers = batchLoader((ctx, keys) =>
  ctx.db
    .select({ ...dateColumns, ownerId: sql<number>`${courseDates.bundleId}`.mapWith(Number) })
    .from(courseDates)
    .innerJoin(courses, ofCourse)
    .where(and(keys.match(courseDates, courseDates.bundleId), isEmbeddable(ctx)))
    .orderBy(asc(courseDates.id)),
);

const fetchBundles = batchLoader((ctx, keys) =>
  ctx.db
    .select({ providerId: bundles.providerId, id: bundles.id, title: bundles.title })
    .from(bundles)
    .where(keys.match(bundles, bundles.id)),
);

/** A group of dates, with all of its dates. */
const bundleSerializer = defineSerializer<{ providerId: number; id: number; title: string }>()({
  responseSchema: Bundle,
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
        title: teachingLanguages.get(id)?.[language] ?? '',
      }),
  ),
  status: relation.include(DateStatus, 'shown', async ({ language }) => ({ statusId: id }: CourseDateRow) => ({
    id,
    idType: id,
    title: courseDateStatuses.get(id)?.[language] ?? '',
  })),
  instructors: relation.include(
    Type.Array(EmbeddedInstructor),
    'shown',
    loadLinkedInstructors(courseDateInstructors, courseDateInstructors.courseDateId),
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
  ...defineSerializer<CourseDateRow>()({ ...common, includes, requiredIncludes: [...defaultIncludes] }),
  names: courseDateSerializer.names,
};

const calendar = {
  ...includes,
  course: includeCalendarCourse((row: CourseDateRow) => row.courseId),
};
const calendarSerializer = defineSerializer<CourseDateRow>()({ ...common, includes: calendar });

/** A course date of the calendar, with default includes. */
export const nextCourseDateSerializer: typeof calendarSerializer = {
  schema: Type.Object({
    ...calendarSerializer.schema.properties,
    ...(Object.fromEntries(defaultIncludes.map((name) => [name, calendar[name].schema])) as Record<string, TSchema>),
  }) as TObject as typeof calendarSerializer.schema,
  names: [
    ...defaultIncludes,
    ...['course.products', 'course.reference_internal', 'instructors', 'provider', 'subinstances', 'bundle'],
  ],
  embed: (ctx, rows, query, names) => calendarSerializer.embed(ctx, rows, query, [...defaultIncludes, ...names]),
};

/** Course dates by their ids, deleted ones too. */
export const fetchCourseDates = batchLoader((ctx, keys) =>
  ctx.db
    .select(dateColumns)
    .from(courseDates)
    .innerJoin(courses, ofCourse)
    .where(keys.match(courseDates, courseDates.id)),
);
