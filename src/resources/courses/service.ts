import { and, eq, gt, inArray, isNotNull, isNull, lt, ne, notInArray, type SQL } from 'drizzle-orm';
import type { Static } from '@sinclair/typebox';
import { slugOf } from '../../lib/catalog-urls.ts';
import { cleared } from '../../schema/partial-update.ts';
import type { Ctx } from '../../core/context.ts';
import { invalidFields, notFound, Problem } from '../../core/errors.ts';
import { mergedProperties } from '../../schema/custom-properties.ts';
import { upholding } from '../../core/constraint-errors.ts';
import { concerns, unchanged } from '../../database/audit-log.ts';
import type { Tx } from '../../database/client.ts';
import { insert, inserting } from '../../database/query-builder/prepared-insert.ts';
import { inOrder, run, type Statement } from '../../database/statements.ts';
import { categories, courseCategories, labels, tags } from '../../database/tables/catalog.ts';
import { foldedSql, realTime } from '../../database/tables/columns.ts';
import { courseDates } from '../../database/tables/coursedates.ts';
import { courses, courseTranslations } from '../../database/tables/courses.ts';
import { customers } from '../../database/tables/customers.ts';
import { own } from '../../lists/tenant-scope.ts';
import { canceled } from '../../reference/statuses.ts';
import type { PartnerQuery } from '../schools/partner-schema.ts';
import { asksForPartners, partnerReach } from '../schools/partner-service.ts';
import { insertMainProduct, moveMainProduct } from './product-service.ts';
import { refuseForeignTags, resolveWords, setLabels, setTags } from '../tags/service.ts';
import type { CourseBody, CourseChange } from './body-schema.ts';
import { courseItem, courseList } from './list.ts';
import { descriptionMembers, type CourseRow, type Texts } from './schema.ts';

type CourseQuery = Parameters<typeof courseList.page>[1];
type CourseItemQuery = Static<typeof courseItem.Query>;

/** A page of courses, counted when it asks for the envelope; with partners included every item carries its `provider`. */
export async function listCourses(ctx: Ctx, query: CourseQuery) {
  const reach = await partnerReach(ctx, query);
  await refuseForeignTags(ctx, query.tag_ids);
  return courseList.page(ctx, withProvider(query), { reach, counted: query.paginate === true });
}

/** One course; a partner's when the query reaches there. */
export async function getCourse(ctx: Ctx, id: number, query: CourseItemQuery) {
  const reach = await partnerReach(ctx, query);
  const course = await courseItem.byId(ctx, id, withProvider(query), { reach });
  if (course === undefined) throw notFound('Course');
  return course;
}

const withProvider = <Q extends PartnerQuery & { include?: string[] }>(query: Q): Q =>
  asksForPartners(query) ? { ...query, include: [...(query.include ?? []), 'provider'] } : query;

const equalTitle = () => new Problem('invalid', 'An active course with an equal title exists already');
const titleRule = 'courses_active_title';
const foreignCustomer = () => invalidFields({ notValid: ['customer_id'] });
const rules = { [titleRule]: equalTitle, courses_customer_fk: foreignCustomer };

const insertCourse = inserting(courses);

/** Makes a course with its main product; returns its id. */
export async function createCourse(ctx: Ctx, body: CourseBody): Promise<number> {
  const { providerId } = ctx;
  const { title, active = true, level = 6, form_of_teaching = 1, teaching_language = 'no' } = body;
  const given = toColumns(body);
  const columns = {
    ...{ ...given, title, slug: slugOf(title), isActive: active },
    ...{ levelId: level, formOfTeachingId: form_of_teaching, teachingLanguageId: teaching_language },
    ...{ priceValue: given.priceValue ?? null, priceCurrency: given.priceCurrency ?? 'NOK' },
    customProperties: mergedProperties(null, body.custom_properties),
  };
  checkTogether(columns);
  const work = ctx.write(async (tx, at) => {
    await inOrder([
      assertTitleIsFree(ctx, tx, { title, isActive: active }),
      refuseForeignCustomer(ctx, tx, body.customer_id),
    ]);
    const tagIds = await resolveWords(ctx, tx, at, tags, 'tags', body.tags);
    const labelIds = await resolveWords(ctx, tx, at, labels, 'labels', body.labels);

    const timestamps = { createdAt: at, updatedAt: at, relatedItemsUpdatedAt: at };
    const courseId = concerns(tx, await insert(tx, insertCourse({ ...columns, ...timestamps, providerId })));
    await insertMainProduct(ctx, tx, at, courseId, columns);
    if (tagIds.length > 0) await setTags(ctx, tx, courseId, tagIds);
    if (labelIds.length > 0) await setLabels(ctx, tx, courseId, labelIds);
    await changeTranslations(ctx, tx, courseId, body.translations);
    return courseId;
  });
  return upholding(rules, work);
}

/** What is not sent keeps its value, what is sent empty is cleared; the main product moves along. Returns the id. */
export function updateCourse(ctx: Ctx, id: number, body: CourseChange): Promise<number> {
  const course = own(ctx, courses, eq(courses.id, id), isNull(courses.deletedAt));
  const work = ctx.write(async (tx, at) => {
    const [before] = await tx.select().from(courses).where(course);
    if (!before) throw notFound('Course');
    const slug = body.title === undefined ? undefined : slugOf(body.title);
    const columns = { ...toColumns(body), ...customerOf(body), slug };
    const after = { ...before, ...sent(columns) };
    checkTogether(after);
    await assertTitleIsFree(ctx, tx, after, id);
    await refuseForeignCustomer(ctx, tx, body.customer_id);

    const tagIds = body.tags && (await resolveWords(ctx, tx, at, tags, 'tags', body.tags));
    const labelIds = body.labels && (await resolveWords(ctx, tx, at, labels, 'labels', body.labels));

    if (labelIds !== undefined) await setLabels(ctx, tx, id, labelIds ?? []);
    await changeTranslations(ctx, tx, id, body.translations);
    const retagged = tagIds !== undefined && (await setTags(ctx, tx, id, tagIds ?? []));
    const moved = await moveMainProduct(ctx, tx, at, id, columns);
    const customProperties = mergedProperties(before.customProperties, body.custom_properties);
    const hasOtherUrl = after.slug !== before.slug && ctx.settings.catalogUrl !== null;
    const showing = hasOtherUrl ? undefined : isNull(courseDates.title);
    const renamed = after.title !== before.title && (await stampDates(ctx, tx, at, id, showing));
    const stamps = { updatedAt: at, relatedItemsUpdatedAt: retagged || moved || renamed ? at : undefined };
    await tx
      .update(courses)
      .set({ ...columns, customProperties, ...stamps })
      .where(course);
    return id;
  });
  return upholding(rules, work);
}

/** With its dates that nobody takes part in, on a child neither; while somebody is to come it stays. Returns the id. */
export function deleteCourse(ctx: Ctx, id: number): Promise<number> {
  const course = own(ctx, courses, eq(courses.id, id), isNull(courses.deletedAt));
  const dates = own(ctx, courseDates, eq(courseDates.courseId, id), isNull(courseDates.deletedAt));
  return ctx.write(async (tx, at) => {
    if ((await tx.$count(courses, course)) === 0) throw notFound('Course');
    const takesPlace = and(ne(courseDates.statusId, canceled), gt(courseDates.endsAt, realTime));
    const taken = eq(courseDates.hasParticipants, true);
    const coming = and(dates, taken, takesPlace);
    if ((await tx.$count(courseDates, coming)) > 0) {
      throw new Problem('invalid', 'The course has dates with coming participants');
    }
    const stamps = { deletedAt: at, updatedAt: at };
    const kept = tx
      .selectDistinct({ id: courseDates.parentId })
      .from(courseDates)
      .where(and(dates, taken, isNotNull(courseDates.parentId)));
    const empty = and(dates, eq(courseDates.hasParticipants, false), notInArray(courseDates.id, kept));
    const gone = await tx.update(courseDates).set(stamps).where(empty).returning({ id: courseDates.id });
    const related = gone.length > 0 ? { relatedItemsUpdatedAt: at } : {};
    await tx
      .update(courses)
      .set({ ...stamps, ...related })
      .where(course);
    return id;
  });
}

/** Puts a course into a category of the catalog, as staff do; doing it again changes nothing. */
export function categorizeCourse(ctx: Ctx, courseId: number, categoryId: number) {
  const { providerId } = ctx;
  return ctx.write(async (tx, at) => {
    const course = own(ctx, courses, eq(courses.id, courseId), isNull(courses.deletedAt));
    if ((await tx.$count(courses, course)) === 0) throw notFound('Course');
    if ((await tx.$count(categories, eq(categories.id, categoryId))) === 0) throw notFound('Category');
    const values = { providerId, courseId, categoryId };
    const added = await tx.insert(courseCategories).values(values).onConflictDoNothing().returning();
    if (added.length === 0) {
      unchanged(tx);
      return;
    }
    concerns(tx, courseId);
    await tx.update(courses).set({ updatedAt: at, relatedItemsUpdatedAt: at }).where(course);
    const before = and(eq(courseCategories.courseId, courseId), lt(courseCategories.categoryId, categoryId));
    const isFirst = (await tx.$count(courseCategories, own(ctx, courseCategories, before))) === 0;
    if (isFirst && ctx.settings.catalogUrl !== null) await stampDates(ctx, tx, at, courseId);
  });
}

/** For what dates show of their course as their own, deleted ones too; tells whether there are any. */
async function stampDates(ctx: Ctx, tx: Tx, at: string, courseId: number, which?: SQL): Promise<boolean> {
  const dates = own(ctx, courseDates, eq(courseDates.courseId, courseId), which);
  const { rowCount } = await tx.update(courseDates).set({ updatedAt: at }).where(dates);
  return rowCount !== 0;
}

export type Together = Partial<Pick<CourseRow, 'durationValue' | 'durationUnitId' | 'type' | 'customerId'>>;

/** What can only be checked field against field. */
export function checkTogether({ durationValue = null, durationUnitId = null, type, customerId = null }: Together) {
  const isCorporate = type === 'corporate';
  const missing = [
    ...(durationValue === null && durationUnitId !== null ? ['duration_value'] : []),
    ...(durationValue !== null && durationUnitId === null ? ['duration_unit'] : []),
    ...(isCorporate && customerId === null ? ['customer_id'] : []),
  ];
  const notValid = !isCorporate && customerId !== null ? ['customer_id'] : [];
  if (missing.length + notValid.length > 0) throw invalidFields({ missing, notValid });
}

const findEqualTitle: Statement = {
  name: 'find_equal_title',
  text: `select 1 from courses where provider_id = $1 and ${foldedSql('title')} = ${foldedSql('$2::text')} and is_active
    and deleted_at is null and id is distinct from $3::bigint limit 1`,
};

/** Throws where another active course has this title, before the unique index would. */
async function assertTitleIsFree(
  { providerId, guards }: Ctx,
  tx: Tx,
  { title, isActive }: { title: string; isActive: boolean },
  id: number | null = null,
) {
  if (!isActive || !guards.equalTitle) return;
  if ((await run(tx, findEqualTitle, [providerId, title, id])).length > 0) throw equalTitle();
}

async function refuseForeignCustomer(ctx: Ctx, tx: Tx, customerId: number | null | undefined) {
  if (customerId === undefined || customerId === null) return;
  if ((await tx.$count(customers, own(ctx, customers, eq(customers.id, customerId)))) === 0) throw foreignCustomer();
}

/** In each language sent: what is not sent keeps its value, what is sent empty is cleared. A translation is one once it has a text. */
async function changeTranslations(ctx: Ctx, tx: Tx, courseId: number, translations: CourseChange['translations']) {
  if (translations === undefined) return;
  const ofCourse = own(ctx, courseTranslations, eq(courseTranslations.courseId, courseId));
  const held = await tx.select().from(courseTranslations).where(ofCourse);
  const textsOf = new Map<string, Texts>(held.map((row) => [row.languageId, row]));
  const changed = Object.entries(translations ?? {}).map(([languageId, texts]) => ({
    ...noTexts,
    ...(texts === null ? {} : { ...textsOf.get(languageId), ...toTexts(texts) }),
    ...{ providerId: ctx.providerId, courseId, languageId },
  }));
  const languages = translations === null ? [...textsOf.keys()] : Object.keys(translations);
  await tx.delete(courseTranslations).where(and(ofCourse, inArray(courseTranslations.languageId, languages)));
  const kept = changed.filter((texts) => textColumns.some((column) => texts[column] !== ''));
  if (kept.length > 0) await tx.insert(courseTranslations).values(kept);
}

const textColumns = Object.values(descriptionMembers);
const noTexts = Object.fromEntries(textColumns.map((column) => [column, ''])) as Texts;

const toTexts = (texts: Partial<Record<keyof typeof descriptionMembers, string | null>>) =>
  Object.fromEntries(
    Object.entries(texts).map(([member, text]) => [descriptionMembers[member as keyof typeof texts], text ?? '']),
  ) as Partial<Texts>;

/** Only a corporate course has a customer: one that becomes another kind lets go of it, unless told otherwise. */
const customerOf = ({ type, customer_id }: CourseChange) =>
  type !== undefined && type !== 'corporate' ? { customerId: customer_id ?? null } : {};

/** The columns that were sent, to be laid over a row. */
const sent = <T extends object>(columns: T) =>
  Object.fromEntries(Object.entries(columns).filter(([, value]) => value !== undefined)) as {
    [K in keyof T]?: Exclude<T[K], undefined>;
  };

const toColumns = (body: CourseChange) => ({
  customerId: body.customer_id,
  title: body.title,
  reference: body.reference,
  isActive: body.active,
  isFullTime: body.is_full_time,
  isPartTime: body.is_part_time,
  type: body.type,
  publishingPlatform: body.publishing_platform,
  levelId: body.level,
  formOfTeachingId: body.form_of_teaching,
  teachingLanguageId: body.teaching_language,
  timeOfDayId: body.time_of_day,
  durationValue: body.duration_value,
  durationUnitId: body.duration_unit,
  priceValue: typeof body.price_value === 'number' ? String(body.price_value) : body.price_value,
  priceCurrency: body.price_currency,
  priceComment: body.price_comment,
  externalBookingUrl: body.external_booking_url,
  externalMoreInfoUrl: body.external_more_info_url,
  emailBooking: cleared(body.email_booking),
  emailMoreInfo: cleared(body.email_more_info),
  textLead: cleared(body.text_lead),
  textDescription: cleared(body.text_description),
  textPlace: cleared(body.text_place),
  textPrerequisites: cleared(body.text_prerequisites),
  textDuration: cleared(body.text_duration),
  textCredits: cleared(body.text_credits),
  textSubmissions: cleared(body.text_submissions),
  textHotelInfo: cleared(body.text_hotel_info),
  textAudience: cleared(body.text_audience),
  visitAddress: body.visit_address,
  visitAddress2: body.visit_address2,
  visitZipcode: body.visit_zipcode,
  visitCity: body.visit_city,
});
