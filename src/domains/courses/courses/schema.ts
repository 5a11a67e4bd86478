import { Type, type Static } from '@sinclair/typebox';
import { unitTitle, units } from '../../../core/reference/courses.ts';
import * as codes from '../../../core/schema/codes.ts';
import { byName, keysOf, t } from '../../../core/schema/types.ts';
import type { Ctx } from '../../../database/context.ts';

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
export const CourseDuration = t.NamedObject(
  'CourseDuration',
  t.member.open.all({ value: Type.Number(), code, unit: Type.String() }),
);

/** Null without a value or a unit. */
export const toCourseDuration = (
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

export const openPrice = t.member.access({ data: 'financial', partner: true, publishable: true });
export const Price = t.NamedObject(
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
export type Member = keyof typeof descriptionMembers;
export type Texts = Record<(typeof descriptionMembers)[Member], string>;
const memberNames = keysOf(descriptionMembers);

export const Descriptions = t.NamedObject('CourseDescriptions', t.member.open.all(byName(memberNames, () => text)));

// Written out: runs for every item of a page.
export const toDescriptions = (texts: Texts): Record<Member, string> => ({
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

export const LeadSettings = t.NamedObject(
  'LeadSettings',
  t.member.closed.all({ email_booking: text, email_more_info: text }),
);

/** The response of every write of a course. */
export const CourseReference = t.NamedObject('CourseReference', t.member.closed.all({ course_id: Type.Integer() }));
