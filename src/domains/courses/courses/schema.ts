import { Type, type Static } from '@sinclair/typebox';
import { unitTitle, units } from '../../../core/reference/courses.ts';
import * as codes from '../../../core/schema/codes.ts';
import { t } from '../../../core/schema/types.ts';
import { formatTimestamp } from '../../../core/timestamps.ts';
import type { Ctx } from '../../../database/context.ts';
import type * as tables from '../../../database/tables/courses.ts';
import { Tag } from '../tags/schema.ts';

const code = t.named('DurationCode', t.OneOf([...units.values()].map(({ code }) => code)));

export type Duration = Static<typeof Duration>;
export const Duration = t.NamedObject(
  'DurationUnit',
  t.member.open.all({
    id: Type.String({ description: codes.DurationUnitId.description }),
    code,
    title: Type.String(),
    title_plural: Type.String(),
  }),
);

export const toDurations = ({ language }: Pick<Ctx, 'language'>): Duration[] =>
  [...units].map(([id, { code, one, many }]) => ({
    id: String(id),
    code,
    title: one[language],
    title_plural: many[language],
  }));

/** The duration of a course, with the title of its unit. */
type CourseDuration = Static<typeof CourseDuration>;
const CourseDuration = t.NamedObject(
  'CourseDuration',
  t.member.open.all({ value: Type.Number(), code, unit: Type.String() }),
);

/** Null without a value or a unit. */
const toCourseDuration = (
  value: number | null,
  unitId: number | null,
  { language }: Pick<Ctx, 'language'>,
): CourseDuration | null =>
  value === null || unitId === null
    ? null
    : { value, code: units.get(unitId)!.code, unit: unitTitle(unitId, value, language) };

const text = Type.String();

/** A category of the catalog, which all schools share. */
export const Category = t.NamedObject(
  'Category',
  t.member.open.all({ id: Type.Integer(), title: text, idParent: Type.Integer(), titleParent: text }),
);

const openPrice = t.member.access({ data: 'financial', partner: true, publishable: true });
/** Partners do not see the tags of another school. */
const publicTags = t.member.access({ data: 'operational', publishable: true });
const Price = t.NamedObject(
  'CoursePrice',
  openPrice.all({
    value: Type.Number({ description: 'Price of the main product, without VAT' }),
    currency: text,
    comment: t.Nullable(text),
  }),
);

export const CourseType = t.named(
  'CourseType',
  t.OneOf(['public', 'internal', 'corporate'], {
    description: 'public, internal (not for the public) or corporate (for one customer)',
  }),
);
export const PublishingPlatform = t.named(
  'PublishingPlatform',
  t.OneOf(['both', 'catalog', 'own'], {
    description: 'both, catalog (the public catalog only) or own (own pages only)',
  }),
);

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
const memberNames = Object.keys(descriptionMembers) as Member[];

const Descriptions = t.NamedObject(
  'CourseDescriptions',
  t.member.open.all(Object.fromEntries(memberNames.map((name) => [name, text])) as Record<Member, typeof text>),
);

export type CourseRow = typeof tables.courses.$inferSelect;

export type Course = Static<typeof Course>;
export const Course = t.NamedObject('Course', {
  ...t.member.open.all({ id: Type.Integer(), title: text }),
  reference: t.member.closed(t.Nullable(text)),
  is_active: t.member.shared(Type.Boolean()),
  ...t.member.open.all({
    catalog_url: t.Nullable(text),
    is_full_time: Type.Boolean(),
    is_part_time: Type.Boolean(),
  }),
  ...t.member.shared.all({ lessons_hours: Type.Null(), type: Type.String({ description: CourseType.description }) }),
  ...t.member.open.all({
    level: codes.level.Item,
    form_of_teaching: codes.formOfTeaching.Item,
    teaching_language: codes.teachingLanguage.Item,
    time_of_day: t.Nullable(codes.timeOfDay.Item),
  }),
  publishing_platform: t.member.shared(Type.String({ description: PublishingPlatform.description })),
  duration: t.member.open(t.Nullable(CourseDuration)),
  price: openPrice(Price),
  ...t.member.open.all({
    categories: Type.Array(Category),
    external_booking_url: t.Nullable(text),
    external_more_info_url: t.Nullable(text),
    descriptions: Descriptions,
  }),
  lead_settings: t.member.closed(
    t.NamedObject('LeadSettings', t.member.closed.all({ email_booking: text, email_more_info: text })),
  ),
  tags: publicTags(Type.Array(Tag)),
  custom_properties: t.member.closed(t.Nullable(t.CustomProperties)),
  ...t.member.open.all({
    description_languages: Type.Array(text),
    visit_address: t.Nullable(text),
    visit_address2: t.Nullable(text),
    visit_zipcode: t.Nullable(text),
    visit_city: t.Nullable(text),
  }),
  created_at: t.member.shared(t.Nullable(t.DateTime)),
  updated_at: t.member.open(t.Nullable(t.DateTime)),
  deleted_at: t.member.closed(t.Nullable(t.DateTime)),
  related_items_updated_at: t.member.shared(t.Nullable(t.DateTime)),
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

type EmbeddedCourseRelations = {
  categories: (Static<typeof Category> & { slug: string })[];
  tags: Static<typeof Tag>[];
  toUrl: (course: { id: number; slug: string; category: string | undefined; isPublic: boolean }) => string | null;
};
type CourseRelations = EmbeddedCourseRelations & { description_languages: string[]; translation: Texts | null };

/** `isPublicCourse` for a loaded row. */
const isPublic = ({ isActive, type, publishingPlatform, deletedAt }: EmbeddedCourseRow) =>
  isActive && type === 'public' && publishingPlatform !== 'own' && deletedAt === null;

export function toEmbeddedCourse(row: EmbeddedCourseRow, relations: EmbeddedCourseRelations, ctx: Ctx): EmbeddedCourse {
  const { language } = ctx;
  return {
    id: row.id,
    title: row.title,
    reference: row.reference,
    is_active: row.isActive,
    catalog_url: relations.toUrl({
      id: row.id,
      slug: row.slug,
      category: relations.categories[0]?.slug,
      isPublic: isPublic(row),
    }),
    is_full_time: row.isFullTime ?? false,
    is_part_time: row.isPartTime ?? false,
    lessons_hours: null,
    type: row.type,
    level: codes.level.toItem(row.levelId, language),
    form_of_teaching: codes.formOfTeaching.toItem(row.formOfTeachingId, language),
    teaching_language: codes.teachingLanguage.toItem(row.teachingLanguageId, language),
    time_of_day: row.timeOfDayId === null ? null : codes.timeOfDay.toItem(row.timeOfDayId, language),
    duration: toCourseDuration(row.durationValue, row.durationUnitId, ctx),
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

// Object.assign: a spread of this many fields takes ten times as long.
export const toCourse = (row: CourseRow, relations: CourseRelations, ctx: Ctx): Course =>
  Object.assign(toEmbeddedCourse(row, relations, ctx), {
    publishing_platform: row.publishingPlatform,
    descriptions: toDescriptions(relations.translation ?? row),
    description_languages: relations.description_languages,
    lead_settings: { email_booking: row.emailBooking, email_more_info: row.emailMoreInfo },
    created_at: formatTimestamp(row.createdAt),
    updated_at: formatTimestamp(row.updatedAt),
    deleted_at: formatTimestamp(row.deletedAt),
    related_items_updated_at: formatTimestamp(row.relatedItemsUpdatedAt),
  });

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

/** The response of every write of a course. */
export const CourseReference = t.NamedObject('CourseReference', t.member.closed.all({ course_id: Type.Integer() }));
