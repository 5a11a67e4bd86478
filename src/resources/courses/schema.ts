import { Type, type Static } from '@sinclair/typebox';
import type { Ctx } from '../../database/context.ts';
import { formatTimestamp } from '../../core/timestamps.ts';
import * as codes from '../../core/schema/codes.ts';
import * as t from '../../core/schema/types.ts';
import * as reference from '../../core/reference/courses.ts';
import * as durations from '../../core/reference/durations.ts';
import { catalogUrl } from '../../core/catalog-urls.ts';
import { Tag } from '../tags/schema.ts';
import type * as tables from '../../database/tables/courses.ts';

const text = Type.String();
const Titled = (name: string, titles: typeof reference.levels) =>
  t.NamedObject(name, { id: Type.Integer({ description: codes.describe(titles) }), title: text });
const DurationCode = Type.String({ description: codes.list([...durations.units.values()].map(({ code }) => code)) });
const Duration = t.NamedObject('CourseDuration', { value: Type.Number(), code: DurationCode, unit: text });
const Price = t.NamedObject('CoursePrice', { value: Type.Number(), currency: text, comment: t.Nullable(text) });

export const courseTypes = ['public', 'internal', 'corporate'] as const;
export const publishingPlatforms = ['both', 'catalog', 'own'] as const;
export const typeDescription = 'public, internal (not for the public) or corporate (for one customer)';
export const platformDescription = 'both, catalog (the public catalog only) or own (own pages only)';

/** Members of `descriptions` → columns. */
export const descriptionMembers = {
  lead: 'textLead',
  description: 'textDescription',
  place: 'textPlace',
  prerequisites: 'textPrerequisites',
  duration: 'textDuration',
  credits: 'textCredits',
  submissions: 'textSubmissions',
  hotelInfo: 'textHotelInfo',
  audience: 'textAudience',
} as const;
type Member = keyof typeof descriptionMembers;
export type Texts = Record<(typeof descriptionMembers)[Member], string>;
export const memberNames = Object.keys(descriptionMembers) as Member[];

const Descriptions = t.NamedObject(
  'CourseDescriptions',
  Object.fromEntries(memberNames.map((name) => [name, Type.String()])) as Record<Member, typeof text>,
);

export const Category = t.NamedObject('Category', {
  id: Type.Integer(),
  title: text,
  idParent: Type.Integer(),
  titleParent: text,
});

export type CourseRow = typeof tables.courses.$inferSelect;

export type Course = Static<typeof Course>;
export const Course = t.NamedObject('Course', {
  id: Type.Integer(),
  title: text,
  reference: t.Nullable(text),
  is_active: Type.Boolean(),
  catalog_url: t.Nullable(text),
  is_full_time: Type.Boolean(),
  is_part_time: Type.Boolean(),
  lessons_hours: Type.Null(),
  type: Type.String({ description: typeDescription }),
  level: Titled('CourseLevel', reference.levels),
  form_of_teaching: Titled('FormOfTeaching', reference.formsOfTeaching),
  teaching_language: t.NamedObject('Language', { id: text, title: text }),
  time_of_day: t.Nullable(Titled('TimeOfDay', reference.timesOfDay)),
  publishing_platform: Type.String({ description: platformDescription }),
  duration: t.Nullable(Duration),
  price: Price,
  categories: Type.Array(Category),
  external_booking_url: t.Nullable(text),
  external_more_info_url: t.Nullable(text),
  descriptions: Descriptions,
  lead_settings: t.NamedObject('LeadSettings', { email_booking: text, email_more_info: text }),
  tags: Type.Array(Tag),
  custom_properties: t.Nullable(t.CustomProperties),
  description_languages: Type.Array(text),
  visit_address: t.Nullable(text),
  visit_address2: t.Nullable(text),
  visit_zipcode: t.Nullable(text),
  visit_city: t.Nullable(text),
  created_at: t.Nullable(t.DateTime),
  updated_at: t.Nullable(t.DateTime),
  deleted_at: t.Nullable(t.DateTime),
  related_items_updated_at: t.Nullable(t.DateTime),
});

/** A course inside a course date, or inside a line of an order. */
export type EmbeddedCourse = Static<typeof EmbeddedCourse>;
export const EmbeddedCourse = t.named(
  'EmbeddedCourse',
  Type.Omit(Course, [
    'descriptions',
    'description_languages',
    'lead_settings',
    'publishing_platform',
    'created_at',
    'updated_at',
    'deleted_at',
    'related_items_updated_at',
  ]),
);

/** A course without its long texts. */
export type EmbeddedCourseRow = Omit<CourseRow, (typeof descriptionMembers)[Member]>;

export type EmbeddedCourseRelations = {
  categories: (Static<typeof Category> & { slug: string })[];
  tags: Static<typeof Tag>[];
};
export type CourseRelations = EmbeddedCourseRelations & { description_languages: string[]; translation: Texts | null };

function toOwnEmbedded(
  row: EmbeddedCourseRow,
  relations: EmbeddedCourseRelations,
  { language, settings }: Ctx,
): EmbeddedCourse {
  const labelled = (labels: typeof reference.levels, id: number) => ({ id, title: labels.get(id)?.[language] ?? '' });
  return {
    id: row.id,
    title: row.title,
    reference: row.reference,
    is_active: row.isActive,
    catalog_url: catalogUrl(settings, relations.categories[0]?.slug, row.slug),
    is_full_time: row.isFullTime ?? false,
    is_part_time: row.isPartTime ?? false,
    lessons_hours: null,
    type: row.type,
    level: labelled(reference.levels, row.levelId),
    form_of_teaching: labelled(reference.formsOfTeaching, row.formOfTeachingId),
    teaching_language: {
      id: row.teachingLanguageId,
      title: reference.teachingLanguages.get(row.teachingLanguageId)?.[language] ?? '',
    },
    time_of_day: row.timeOfDayId === null ? null : labelled(reference.timesOfDay, row.timeOfDayId),
    duration:
      row.durationValue === null || row.durationUnitId === null
        ? null
        : {
            value: row.durationValue,
            code: durations.units.get(row.durationUnitId)!.code,
            unit: durations.unitTitle(row.durationUnitId, row.durationValue, language),
          },
    price: { value: Number(row.priceValue ?? 0), currency: row.priceCurrency, comment: row.priceComment },
    categories: relations.categories,
    external_booking_url: row.externalBookingUrl,
    external_more_info_url: row.externalMoreInfoUrl,
    tags: relations.tags,
    custom_properties: row.customProperties,
    visit_address: row.visitAddress,
    visit_address2: row.visitAddress2,
    visit_zipcode: row.visitZipcode,
    visit_city: row.visitCity,
  };
}

const toDetails = (row: CourseRow, { description_languages, translation }: CourseRelations) => ({
  publishing_platform: row.publishingPlatform,
  descriptions: toDescriptions(translation ?? row),
  description_languages,
  created_at: formatTimestamp(row.createdAt),
  updated_at: formatTimestamp(row.updatedAt),
  related_items_updated_at: formatTimestamp(row.relatedItemsUpdatedAt),
});

// Object.assign: a spread of this many fields takes ten times as long.
const toOwnCourse = (row: CourseRow, relations: CourseRelations, ctx: Ctx): Course =>
  Object.assign(toOwnEmbedded(row, relations, ctx), toDetails(row, relations), {
    lead_settings: { email_booking: row.emailBooking, email_more_info: row.emailMoreInfo },
    deleted_at: formatTimestamp(row.deletedAt),
  });

/** A partner's course: an allow-list, so that a new field stays private until it is named here. */
function toPartnerEmbedded(row: EmbeddedCourseRow, relations: EmbeddedCourseRelations, ctx: Ctx): EmbeddedCourse {
  const course = toOwnEmbedded(row, relations, ctx);
  const { id, title, is_active, catalog_url, is_full_time, is_part_time, lessons_hours, type, level } = course;
  const { form_of_teaching, teaching_language, time_of_day, duration, price, categories } = course;
  const { external_booking_url, external_more_info_url } = course;
  const { visit_address, visit_address2, visit_zipcode, visit_city } = course;
  return {
    ...{ id, title, is_active, catalog_url, is_full_time, is_part_time, lessons_hours, type, level },
    ...{ form_of_teaching, teaching_language, time_of_day, duration, price, categories },
    ...{ external_booking_url, external_more_info_url },
    ...{ visit_address, visit_address2, visit_zipcode, visit_city },
    reference: null,
    tags: ctx.publishableFor ? relations.tags : [],
    custom_properties: null,
  };
}

const toPartnerCourse = (row: CourseRow, relations: CourseRelations, ctx: Ctx): Course =>
  Object.assign(toPartnerEmbedded(row, relations, ctx), toDetails(row, relations), {
    lead_settings: { email_booking: '', email_more_info: '' },
    deleted_at: null,
  });

export const toCourse = (row: CourseRow, relations: CourseRelations, ctx: Ctx): Course =>
  (row.providerId === ctx.providerId ? toOwnCourse : toPartnerCourse)(row, relations, ctx);

export const toEmbeddedCourse = (
  row: EmbeddedCourseRow,
  relations: EmbeddedCourseRelations,
  ctx: Ctx,
): EmbeddedCourse => (row.providerId === ctx.providerId ? toOwnEmbedded : toPartnerEmbedded)(row, relations, ctx);

// Written out: runs for every item of a page.
const toDescriptions = (texts: Texts): Record<Member, string> => ({
  lead: texts.textLead,
  description: texts.textDescription,
  place: texts.textPlace,
  prerequisites: texts.textPrerequisites,
  duration: texts.textDuration,
  credits: texts.textCredits,
  submissions: texts.textSubmissions,
  hotelInfo: texts.textHotelInfo,
  audience: texts.textAudience,
});
