import { eq, isNull, sql } from 'drizzle-orm';
import { slugOf } from '../../core/catalog.ts';
import type { Ctx } from '../../core/context.ts';
import { invalidFields, notFound, Problem } from '../../core/problem.ts';
import { upholding } from '../../core/rules.ts';
import type { Tx } from '../../database/client.ts';
import { categories, courseCategories, courseLabels, courseTags, labels, tags } from '../../database/tables/catalog.ts';
import { folded } from '../../database/tables/columns.ts';
import { courses, courseTranslations, products } from '../../database/tables/courses.ts';
import { customers } from '../../database/tables/customers.ts';
import { own } from '../../lists/reach.ts';
import { asksForPartners, partnerReach } from '../partners/service.ts';
import { refuseForeignTags, resolveWords } from '../tags/service.ts';
import type { CourseBody } from './body.ts';
import { courseList } from './query.ts';
import { descriptionMembers } from './schema.ts';

type CourseQuery = Parameters<typeof courseList.page>[1];

/** A page of courses, counted when it asks for the envelope; with partners included every item carries its `provider`. */
export async function listCourses(ctx: Ctx, query: CourseQuery) {
  const reach = await partnerReach(ctx, query);
  await refuseForeignTags(ctx, query.tag_ids);
  const asked: CourseQuery = asksForPartners(query)
    ? { ...query, include: [...(query.include ?? []), 'provider'] }
    : query;
  return courseList.page(ctx, asked, { reach, counted: query.paginate === true });
}

const equalTitle = () => new Problem('invalid', 'An active course with an equal title exists already');

/** Makes a course with its main product; returns its id. */
export async function createCourse(ctx: Ctx, body: CourseBody): Promise<number> {
  checkTogether(body);
  const { active = true, title } = body;
  const { providerId } = ctx;
  const work = ctx.write(async (tx, at) => {
    if (active && ctx.guards.equalTitle) await refuseEqualTitle(ctx, tx, title);
    if (body.customer_id !== undefined) await refuseForeignCustomer(ctx, tx, body.customer_id);
    const tagIds = await resolveWords(ctx, tx, at, tags, 'tags', body.tags);
    const labelIds = await resolveWords(ctx, tx, at, labels, 'labels', body.labels);

    const stamps = { createdAt: at, updatedAt: at };
    const columns = { ...toColumns(body), providerId, ...stamps, relatedItemsUpdatedAt: at };
    const [course] = await tx.insert(courses).values(columns).returning({ id: courses.id });
    const courseId = course!.id;

    const price = { price: String(body.price_value ?? 0), currency: body.price_currency ?? 'NOK' };
    await tx.insert(products).values({ providerId, courseId, title, ...price, isMainProduct: true, ...stamps });
    if (tagIds.length > 0) await tx.insert(courseTags).values(tagIds.map((tagId) => ({ providerId, tagId, courseId })));
    if (labelIds.length > 0) {
      await tx.insert(courseLabels).values(labelIds.map((labelId) => ({ providerId, labelId, courseId })));
    }
    const translations = toTranslations(body).map((texts) => ({ ...texts, providerId, courseId }));
    if (translations.length > 0) await tx.insert(courseTranslations).values(translations);
    return courseId;
  });
  return upholding({ courses_active_title: equalTitle }, work);
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
    if (added.length > 0) await tx.update(courses).set({ updatedAt: at, relatedItemsUpdatedAt: at }).where(course);
  });
}

/** What can only be checked field against field. */
function checkTogether({ duration_value, duration_unit, type, customer_id }: CourseBody) {
  const missing = [
    ...(duration_value === undefined && duration_unit !== undefined ? ['duration_value'] : []),
    ...(duration_value !== undefined && duration_unit === undefined ? ['duration_unit'] : []),
    ...(type === 'corporate' && customer_id === undefined ? ['customer_id'] : []),
  ];
  const notValid = type !== 'corporate' && customer_id !== undefined ? ['customer_id'] : [];
  if (missing.length + notValid.length > 0) throw invalidFields({ missing, notValid });
}

async function refuseEqualTitle(ctx: Ctx, tx: Tx, title: string) {
  const equal = own(
    ctx,
    courses,
    sql`${folded(courses.title)} = lower(${title} collate "und-x-icu")`,
    eq(courses.isActive, true),
    isNull(courses.deletedAt),
  );
  if ((await tx.$count(courses, equal)) > 0) throw equalTitle();
}

async function refuseForeignCustomer(ctx: Ctx, tx: Tx, customerId: number) {
  if ((await tx.$count(customers, own(ctx, customers, eq(customers.id, customerId)))) === 0)
    throw invalidFields({ notValid: ['customer_id'] });
}

const toColumns = (body: CourseBody) => ({
  customerId: body.customer_id,
  title: body.title,
  slug: slugOf(body.title),
  reference: body.reference,
  isActive: body.active ?? true,
  isFullTime: body.is_full_time,
  isPartTime: body.is_part_time,
  type: body.type,
  publishingPlatform: body.publishing_platform,
  levelId: body.level ?? 6,
  formOfTeachingId: body.form_of_teaching ?? 1,
  teachingLanguageId: body.teaching_language ?? 'no',
  timeOfDayId: body.time_of_day,
  durationValue: body.duration_value,
  durationUnitId: body.duration_unit,
  priceValue: body.price_value === undefined ? undefined : String(body.price_value),
  priceCurrency: body.price_currency,
  priceComment: body.price_comment,
  externalBookingUrl: body.external_booking_url,
  externalMoreInfoUrl: body.external_more_info_url,
  emailBooking: body.email_booking,
  emailMoreInfo: body.email_more_info,
  textLead: body.text_lead,
  textDescription: body.text_description,
  textPlace: body.text_place,
  textPrerequisites: body.text_prerequisites,
  textDuration: body.text_duration,
  textCredits: body.text_credits,
  textSubmissions: body.text_submissions,
  textHotelInfo: body.text_hotel_info,
  textAudience: body.text_audience,
  customProperties: toCustomProperties(body.custom_properties),
  visitAddress: body.visit_address,
  visitAddress2: body.visit_address2,
  visitZipcode: body.visit_zipcode,
  visitCity: body.visit_city,
});

/** An empty value removes its key; without any key there is nothing to store. */
function toCustomProperties(sent: Record<string, string | null> = {}) {
  const kept = Object.entries(sent).filter(([, value]) => value !== null);
  return kept.length === 0 ? null : Object.fromEntries(kept);
}

/** A translation is one once it has a text. */
const toTranslations = ({ translations = {} }: CourseBody) =>
  Object.entries(translations)
    .filter(([, texts]) => Object.keys(texts).length > 0)
    .map(([languageId, texts]) => ({
      languageId,
      ...Object.fromEntries(
        Object.entries(texts).map(([member, text]) => [descriptionMembers[member as keyof typeof texts], text]),
      ),
    }));
