import { Type, type Static, type TSchema } from '@sinclair/typebox';
import * as codes from '../../../core/schema/codes.ts';
import { t } from '../../../core/schema/types.ts';
import { courses } from '../../../database/tables/courses.ts';
import { CourseType, PublishingPlatform, descriptionMembers } from './schema.ts';
import { TagInputs } from '../tags/body-schema.ts';

const { Optional } = Type;

/** Fields of a new course in both interfaces. */
const common = {
  title: t.stored(courses.title, {
    ...t.Title(),
    description: 'Unique among the active courses, without regard to case, blanks, apostrophes and hyphens',
  }),
  active: t.stored(courses.isActive, {
    ...t.withDefault(Type.Boolean(), true),
    description: 'false: hidden, and cannot be booked',
  }),
  reference: t.stored(courses.reference, Optional({ ...t.Line(), description: 'Internal reference' })),
  is_full_time: t.stored(courses.isFullTime, Optional({ ...Type.Boolean(), description: 'true: full-time' })),
  is_part_time: t.stored(courses.isPartTime, Optional({ ...Type.Boolean(), description: 'true: part-time' })),
  level: t.stored(courses.levelId, t.withDefault(codes.level.Code, 6)),
  form_of_teaching: t.stored(courses.formOfTeachingId, t.withDefault(codes.formOfTeaching.Code, 1)),
  teaching_language: t.stored(courses.teachingLanguageId, t.withDefault(codes.teachingLanguage.Code, 'no')),
  time_of_day: t.stored(courses.timeOfDayId, Optional(codes.timeOfDay.Code)),
  duration_value: t.stored(
    courses.durationValue,
    Optional({ ...t.Count(), description: 'Length in duration_unit; both or neither' }),
  ),
  duration_unit: t.stored(courses.durationUnitId, Optional(codes.DurationUnitId)),
  price_value: t.stored(
    courses.priceValue,
    Optional({ ...t.Count(), description: 'Price of the main product without VAT, a whole number' }),
  ),
  price_currency: t.stored(courses.priceCurrency, t.withDefault(codes.CurrencyCode, 'NOK')),
  price_comment: t.stored(courses.priceComment, Optional({ ...t.Note(), description: 'Text beside the price' })),
};
const texts = {
  text_lead: t.stored(courses.textLead, Optional({ ...t.Html(), description: 'Introduction' })),
  text_description: t.stored(courses.textDescription, Optional({ ...t.Html(), description: 'Description' })),
  text_place: t.stored(courses.textPlace, Optional({ ...t.Html(), description: 'Where it takes place' })),
  text_prerequisites: t.stored(courses.textPrerequisites, Optional({ ...t.Html(), description: 'Prerequisites' })),
  text_duration: t.stored(courses.textDuration, Optional({ ...t.Html(), description: 'Duration in words' })),
  text_credits: t.stored(courses.textCredits, Optional({ ...t.Html(), description: 'Credits' })),
  text_submissions: t.stored(courses.textSubmissions, Optional({ ...t.Html(), description: 'Assignments to hand in' })),
  text_hotel_info: t.stored(courses.textHotelInfo, Optional({ ...t.Html(), description: 'Hotels' })),
  text_audience: t.stored(courses.textAudience, Optional({ ...t.Html(), description: 'Audience' })),
  email_booking: t.stored(
    courses.emailBooking,
    Optional({
      ...t.Email(),
      description: 'Where notices to the school go unless the location of the date has an address',
    }),
  ),
  email_more_info: t.stored(
    courses.emailMoreInfo,
    Optional({ ...t.Email(), description: 'E-mail address for questions' }),
  ),
};

type Texts<T> = Partial<Record<keyof typeof descriptionMembers, T>>;
const TextsOf = (name: string, text: TSchema) =>
  t.NamedObject(name, Object.fromEntries(Object.keys(descriptionMembers).map((member) => [member, Optional(text)])));
const Translations = <T>(name: string, texts: TSchema, description: string) =>
  t.NamedRecord<T>(name, codes.teachingLanguage.Code, texts, { description });

const completionShare = Type.Number({
  minimum: 0,
  maximum: 1,
  multipleOf: 0.001,
  description: 'Share of the gatherings that completes the course once the last has ended; only by hand unless sent',
});
const customerId = { ...t.Id, description: 'The customer of a corporate course' };
const customProperties = { ...t.CustomProperties, description: 'Further values of your own' };

const example = {
  title: 'First aid for climbers',
  price_value: 1900,
  duration_value: 1,
  duration_unit: 1,
  text_lead: 'One day on the wall with a paramedic.',
};

/** POST {legacy_base_url}/courses. */
export const LegacyCourseBody = t.NamedObject('LegacyCourseCreate', { ...common, ...texts }, { examples: [example] });

/** POST /v2/courses. */
export type CourseBody = Static<typeof CourseBody>;
export const CourseBody = t.NamedObject(
  'CourseCreate',
  {
    ...common,
    tags: Optional(TagInputs('Ids or titles; a new title creates a tag')),
    labels: Optional(TagInputs('Ids or titles of internal labels')),
    ...texts,
    external_booking_url: t.stored(
      courses.externalBookingUrl,
      Optional({ ...t.Url(), description: 'Booking page on another website' }),
    ),
    external_more_info_url: t.stored(
      courses.externalMoreInfoUrl,
      Optional({ ...t.Url(), description: 'Page with more information on another website' }),
    ),
    type: t.stored(courses.type, t.withDefault(CourseType, 'public')),
    publishing_platform: t.stored(courses.publishingPlatform, t.withDefault(PublishingPlatform, 'both')),
    customer_id: t.stored(courses.customerId, Optional(customerId), 'customer'),
    visit_address: t.stored(
      courses.visitAddress,
      Optional({ ...t.Line(), description: 'Street address of the visitors, first line' }),
    ),
    visit_address2: t.stored(courses.visitAddress2, Optional({ ...t.Line(), description: 'Second line' })),
    visit_zipcode: t.stored(courses.visitZipcode, Optional({ ...t.Line(), description: 'Postal code' })),
    visit_city: t.stored(courses.visitCity, Optional({ ...t.Line(), description: 'City' })),
    custom_properties: t.stored(courses.customProperties, Optional(customProperties)),
    completion_min_share: t.stored(courses.completionMinShare, Optional(completionShare)),
    translations: Optional(
      Translations<Texts<string>>('CourseTranslations', TextsOf('CourseTexts', t.Html()), 'Texts by language code'),
    ),
  },
  { examples: [{ ...example, tags: [{ title: 'Outdoor' }] }] },
);

/** PUT /v2/courses/:id. A partial update of each translation, too. */
export type CourseChange = Static<typeof CourseChange>;
export const CourseChange = t.NamedObject(
  'CourseUpdate',
  {
    ...t.partialUpdate(CourseBody.properties),
    translations: Optional(
      t.Nullable(
        Translations<Texts<string | null> | null>(
          'CourseTranslationsUpdate',
          t.Nullable(TextsOf('CourseTextsUpdate', t.Nullable(t.Html()))),
          'Language code to the members of `descriptions` in that language',
        ),
      ),
    ),
  },
  { examples: [{ price_value: 2100, tags: [{ title: 'Outdoor' }] }] },
);
