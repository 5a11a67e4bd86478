import { and, asc, eq, getTableColumns, isNull, or, sql, type Placeholder } from 'drizzle-orm';
import { Type, type Static, type TObject, type TSchema } from '@sinclair/typebox';
import type { Ctx } from '../../core/context.ts';
import * as t from '../../schema/types.ts';
import { omitColumns } from '../../database/tables/columns.ts';
import { bundles, courseDateInstructors, courseDates } from '../../database/tables/coursedates.ts';
import { courses } from '../../database/tables/courses.ts';
import { instructors } from '../../database/tables/places.ts';
import { batchLoader, matchesKeys } from '../../lists/loaders.ts';
import { fetchNamed, grouped, include, hasMany } from '../../lists/relations.ts';
import type { Includes, Loader } from '../../lists/relations.ts';
import {
  withRequiredIncludes,
  includeMany,
  includeOne,
  defineSerializer,
  type Serializer,
} from '../../lists/serializer.ts';
import { teachingLanguages } from '../../reference/courses.ts';
import { courseDateStatuses } from '../../reference/statuses.ts';
import type { EmbeddedCourseRow } from '../courses/schema.ts';
import {
  loadCourseCategories,
  embeddedCourseShape,
  fetchEmbeddedCourses,
  isPublicCourse,
} from '../courses/serializer.ts';
import type { GatheringRow } from './gathering-schema.ts';
import { fetchGatherings, gatheringShape } from './gathering-serializer.ts';
import { EmbeddedInstructor, toEmbeddedInstructor, type InstructorRow } from '../instructors/schema.ts';
import { shownInstructors } from '../instructors/serializer.ts';
import { fetchLocations, locationShape } from '../locations/serializer.ts';
import { DatePlace, toDatePlace } from '../locations/place-schema.ts';
import { fetchPlaces } from '../locations/place-serializer.ts';
import { providerInclude } from '../schools/provider-serializer.ts';
import { Bundle, CourseDate, DateLanguage, DateStatus, toCourseDate, toPartnerCourseDate } from './schema.ts';
import { unshown, type CourseDateRow } from './schema.ts';

/** Until its deadline a date is shown in any case, to the end of that day in its own time zone. */
export const isShownAfterDeadline = or(
  eq(courseDates.visibleWhenPassedDeadline, true),
  sql`${courseDates.deadlineAt} >= timezone(${courseDates.zone}, now())::date`,
)!;

/** What anybody may see of a school's course dates: the visible ones of its public courses. */
export const isPublicDate = and(
  eq(courseDates.isVisible, true),
  isNull(courseDates.deletedAt),
  isShownAfterDeadline,
  sql`exists (select from ${courses} where ${and(
    eq(courses.providerId, courseDates.providerId),
    eq(courses.id, courseDates.courseId),
    isPublicCourse,
  )})`,
)!;

/** What a date may show beside itself, each judged for itself: all of one's own, of a partner's only what is public. */
const shown = ({ providerId }: { providerId: Placeholder }) =>
  and(isNull(courseDates.deletedAt), or(eq(courseDates.providerId, providerId), isPublicDate));

/** What to select of a date, and of its course what every date tells. */
const dateColumns = {
  ...omitColumns(courseDates, unshown),
  course: { title: courses.title, slug: courses.slug },
};
const itsCourse = and(eq(courses.providerId, courseDates.providerId), eq(courses.id, courseDates.courseId));

/** The slug of the first category of a date's course, for its address in the catalog; not looked for where there is none. */
const loadCategory: Loader<CourseDateRow, string | undefined> = async (ctx, rows, query) => {
  if (ctx.settings.catalogUrl === null) return () => undefined;
  const loadKey = ({ providerId, courseId }: CourseDateRow) => ({ providerId, id: courseId });
  const courseKeys = new Map(rows.map((row) => [row.courseId, loadKey(row)]));
  const loadCategories = await loadCourseCategories(ctx, [...courseKeys.values()], query);
  return (row) => loadCategories(loadKey(row))[0]?.slug;
};

const common = {
  responseSchema: CourseDate,
  relations: { category: loadCategory },
  toResponse: (row: CourseDateRow, { category }: { category: string | undefined }, ctx: Ctx) =>
    row.providerId === ctx.providerId ? toCourseDate(row, category, ctx) : toPartnerCourseDate(row, category, ctx),
};

/** A date inside another one, or inside a bundle: nothing can be embedded in it. */
const plainShape = defineSerializer<CourseDateRow>()({ ...common, includes: {} });

const fetchChildren = batchLoader((ctx, keys) =>
  ctx.db
    .select({ ...dateColumns, ownerId: sql<number>`${courseDates.parentId}`.mapWith(Number) })
    .from(courseDates)
    .innerJoin(courses, itsCourse)
    .where(and(matchesKeys(ctx, courseDates.providerId, courseDates.parentId, keys), shown(ctx)))
    .orderBy(asc(courseDates.id)),
);

const loadInstructors = hasMany(
  batchLoader((ctx, keys) =>
    ctx.db
      .select({ ownerId: courseDateInstructors.courseDateId, ...getTableColumns(instructors) })
      .from(courseDateInstructors)
      .innerJoin(
        instructors,
        and(
          eq(instructors.providerId, courseDateInstructors.providerId),
          eq(instructors.id, courseDateInstructors.instructorId),
        ),
      )
      .where(
        and(
          matchesKeys(ctx, courseDateInstructors.providerId, courseDateInstructors.courseDateId, keys),
          shownInstructors(ctx),
        ),
      )
      .orderBy(asc(instructors.id)),
  ),
  (row: InstructorRow & { ownerId: number }, ctx) => toEmbeddedInstructor(row, ctx),
);

const loadPlace: Loader<CourseDateRow, Static<typeof DatePlace>> = async (ctx, rows) => {
  const found = await fetchNamed(ctx, rows, (row) => row.placeId, fetchPlaces);
  const byId = new Map(found.map((place) => [place.id, place]));
  return (row) => toDatePlace(byId.get(row.placeId ?? 0) ?? null, row.placeAdditionalInfo);
};

const fetchBundles = batchLoader((ctx, keys) =>
  ctx.db
    .select({ id: bundles.id, title: bundles.title })
    .from(bundles)
    .where(matchesKeys(ctx, bundles.providerId, bundles.id, keys)),
);

const fetchMembers = batchLoader((ctx, keys) =>
  ctx.db
    .select(dateColumns)
    .from(courseDates)
    .innerJoin(courses, itsCourse)
    .where(and(matchesKeys(ctx, courseDates.providerId, courseDates.bundleId, keys), shown(ctx)))
    .orderBy(asc(courseDates.id)),
);

/** The group a date is in, with all of its dates. */
const loadBundle: Loader<CourseDateRow, Static<typeof Bundle> | null> = async (ctx, rows, query) => {
  const named = (row: CourseDateRow) => row.bundleId;
  const [found, members] = await Promise.all([
    fetchNamed(ctx, rows, named, fetchBundles),
    fetchNamed(ctx, rows, named, fetchMembers),
  ]);
  const dates = await plainShape.embed(ctx, members, query, []);
  const items = grouped(
    members,
    (member) => member.bundleId!,
    (_, n) => dates[n]!,
  );
  const byId = new Map(found.map(({ id, title }) => [id, { id, title, items: items.get(id) ?? [] }]));
  return (row) => byId.get(row.bundleId ?? 0) ?? null;
};

const includes = {
  course: includeOne((row: CourseDateRow) => row.courseId, fetchEmbeddedCourses, embeddedCourseShape, 'shown'),
  location: includeOne((row: CourseDateRow) => row.locationId, fetchLocations, locationShape, 'shown'),
  gatherings: includeMany<GatheringRow & { ownerId: number }>(fetchGatherings, gatheringShape, 'shown'),
  place: include(DatePlace, 'shown', loadPlace),
  teaching_language: include(
    DateLanguage,
    'shown',
    async ({ language }) =>
      ({ teachingLanguageId: id }: CourseDateRow) => ({
        id,
        title: teachingLanguages.get(id)?.[language] ?? '',
      }),
  ),
  status: include(DateStatus, 'shown', async ({ language }) => ({ statusId: id }: CourseDateRow) => ({
    id,
    idType: id,
    title: courseDateStatuses.get(id)?.[language] ?? '',
  })),
  instructors: include(Type.Array(EmbeddedInstructor), 'shown', loadInstructors),
  subinstances: includeMany<CourseDateRow & { ownerId: number }>(fetchChildren, plainShape, 'shown'),
  bundle: include(t.Nullable(Bundle), 'shown', loadBundle),
  provider: providerInclude,
} satisfies Includes<CourseDateRow>;

/** A course date as lists show it; partners' dates by the allow-list of their own. */
export const courseDateShape = defineSerializer<CourseDateRow>()({ ...common, includes });

const unasked = ['course', 'location', 'place', 'gatherings', 'teaching_language', 'status'] as const;

/** A date of one course, with what that embeds without being asked; asking for it does no harm. */
export const dateOfCourseShape: Serializer<CourseDateRow, typeof courseDateShape.schema> = {
  ...withRequiredIncludes([...unasked], courseDateShape),
  names: courseDateShape.names,
};

/** A course inside the calendar, which may also tell the school's internal reference; a partner's stays private. */
const calendarCourseShape: Serializer<EmbeddedCourseRow> = {
  schema: Type.Object({
    ...Type.Omit(embeddedCourseShape.schema, ['customer']).properties,
    reference_internal: Type.Optional(t.Nullable(Type.String())),
  }),
  names: ['products', 'reference_internal'],
  async embed(ctx, rows, query, requested) {
    const items = await embeddedCourseShape.embed(
      ctx,
      rows,
      query,
      requested.filter((name) => name !== 'reference_internal'),
    );
    if (!requested.includes('reference_internal')) return items;
    const own = (row: EmbeddedCourseRow) => (row.providerId === ctx.providerId ? row.referenceInternal : null);
    return items.map((item, n) => ({ ...item, reference_internal: own(rows[n]!) }));
  },
};

const calendar = {
  ...includes,
  course: includeOne((row: CourseDateRow) => row.courseId, fetchEmbeddedCourses, calendarCourseShape, 'shown'),
} satisfies Includes<CourseDateRow>;
const calendarShape = defineSerializer<CourseDateRow>()({ ...common, includes: calendar });

/** A course date of the calendar, with what that embeds without being asked. */
export const nextCourseDateShape: Serializer<CourseDateRow, typeof calendarShape.schema> = {
  schema: Type.Object({
    ...calendarShape.schema.properties,
    ...(Object.fromEntries(unasked.map((name) => [name, calendar[name].schema])) as Record<string, TSchema>),
  }) as TObject as typeof calendarShape.schema,
  names: [
    ...unasked,
    ...['course.products', 'course.reference_internal', 'instructors', 'provider', 'subinstances', 'bundle'],
  ],
  embed: (ctx, rows, query, requested) => calendarShape.embed(ctx, rows, query, [...unasked, ...requested]),
};

/** Course dates by their ids, deleted ones too: what refers to a date shows it. */
export const fetchCourseDates = batchLoader((ctx, keys) =>
  ctx.db
    .select(dateColumns)
    .from(courseDates)
    .innerJoin(courses, itsCourse)
    .where(matchesKeys(ctx, courseDates.providerId, courseDates.id, keys)),
);
