import { and, eq, inArray, isNull, ne, sql } from 'drizzle-orm';
import type { Static } from '@sinclair/typebox';
import { toSlug } from '../../../core/catalog-urls.ts';
import { byName, keysOf } from '../../../core/schema/types.ts';
import { Problem } from '../../../core/errors.ts';
import type { Ctx, WriteCtx } from '../../../database/context.ts';
import { matchFolded } from '../../../database/tables/columns.ts';
import * as tables from '../../../database/tables/courses.ts';
import { bodyWriter } from '../../../lists/body-writer.ts';
import { tenantWhere } from '../../../lists/tenant-scope.ts';
import { touchDatesOfCourse } from '../../school/catalog-settings/service.ts';
import { insertMainProduct, updateMainProduct } from '../products/service.ts';
import { replaceTags, tagReferences } from '../tags/service.ts';
import { assignAddresses, replaceAddress } from './address-service.ts';
import { CourseBody, type CourseChange } from './fields.ts';
import { courseItem, courseList } from './list.ts';
import { descriptionMembers } from './schema.ts';

/** One course, which may be a partner's. */
export const getCourse = async (ctx: Ctx, id: number, query: Static<typeof courseItem.Query>) =>
  Problem.assertFound(await courseItem.byId(ctx, id, query), 'Course');

/** Throws unless the course is visible: the provider's own, or that of a partner in the query. */
export async function assertVisibleCourse(...args: Parameters<typeof courseList.exists>) {
  if (!(await courseList.exists(...args))) throw Problem.notFound('Course');
}

const { toColumns, insert, references } = bodyWriter(tables.courses, CourseBody, tagReferences);
export const courseReferences = references;

const equalTitle = (conflictsWith?: number) =>
  Problem.coded('equal_title', 'An active course with an equal title exists already', {
    ...{ notValid: ['title'], conflictsWith },
  });
const titleRule = 'courses_active_title';
const foreignCustomer = () => Problem.invalidFields({ notValid: ['customer_id'] });
const constraints = { [titleRule]: () => equalTitle(), courses_customer_fk: foreignCustomer };

/** Creates a course with its main product; returns its id. */
export async function createCourse(ctx: Ctx, body: CourseBody): Promise<number> {
  const { providerId } = ctx;
  const { title, active = true, level = 6, form_of_teaching = 1, teaching_language = 'no' } = body;
  const fields = toColumns(body);
  const columns = {
    ...{ ...fields, title, slug: toSlug(title), slugHasId: false, isActive: active },
    ...{ levelId: level, formOfTeachingId: form_of_teaching, teachingLanguageId: teaching_language },
    ...{ priceValue: fields.priceValue ?? null, priceCurrency: fields.priceCurrency ?? 'NOK' },
  };
  validateCrossFields(columns);
  const work = ctx.write(['catalog'], async (w) => {
    const { tx, now } = w;
    await assertTitleIsFree(w, { title, isActive: active });
    await courseReferences.assertKnown(body, { ctx, reader: tx });
    const timestamps = { createdAt: now, updatedAt: now, relatedItemsUpdatedAt: now };
    const courseId = tx.auditItem(await insert(tx, { ...columns, ...timestamps, providerId }));
    await assignAddresses(w, [{ ...columns, id: courseId }]);
    await insertMainProduct(w, courseId, columns);
    await replaceTags(w, courseId, body);
    await updateTranslations(w, courseId, body.translations);
    return courseId;
  });
  return Problem.mapConstraints(constraints, work);
}

/** A partial update, of the main product too. Returns the id. */
export function updateCourse(ctx: Ctx, id: number, body: CourseChange): Promise<number> {
  const course = matchCourse(ctx, id);
  const work = ctx.write(['catalog', 'dates'], async (w) => {
    const { tx, now } = w;
    const [before] = await tx.select().from(tables.courses).where(course);
    if (!before) throw Problem.notFound('Course');
    const columns = { ...withoutUnset(before, toColumns(body, before)), ...toCustomerColumn(body) };
    const after = { ...before, ...definedOnly(columns) };
    validateCrossFields(after);
    // A course that is created during an import may have a title that is equal to an imported one.
    if (!before.isActive || after.title !== before.title) await assertTitleIsFree(w, after, id);
    await courseReferences.assertKnown(body, { ctx, reader: tx });

    const hasOtherSlug = toSlug(after.title) !== toSlug(before.title);
    const slugs = hasOtherSlug ? await replaceAddress(w, after) : undefined;
    const { hasOtherTags, hasOtherLabels } = await replaceTags(w, id, body);
    const hasOtherTexts = await updateTranslations(w, id, body.translations);
    const hasOtherProduct = await updateMainProduct(w, id, columns);
    const shown = hasOtherSlug ? 'url' : 'title';
    const hasRenamedDates = after.title !== before.title && (await touchDatesOfCourse(w, id, shown));
    const relatedItemsUpdatedAt = hasOtherTags || hasOtherProduct || hasRenamedDates ? now : undefined;
    const updatedAt = hasOtherLabels || hasOtherTexts ? now : undefined;
    const values = { ...columns, ...slugs, relatedItemsUpdatedAt, updatedAt };
    const changed = await tx.updateChanged(tables.courses, course, values, now);
    return changed === 0 ? tx.rollBack(id) : id;
  });
  return Problem.mapConstraints(constraints, work);
}

export const matchCourse = (ctx: Ctx, id: number) =>
  tenantWhere(ctx, tables.courses, eq(tables.courses.id, id), isNull(tables.courses.deletedAt));

type CourseRow = typeof tables.courses.$inferSelect;
export type CrossFields = Partial<Pick<CourseRow, 'durationValue' | 'durationUnitId' | 'type' | 'customerId'>>;

export function validateCrossFields({
  durationValue = null,
  durationUnitId = null,
  type,
  customerId = null,
}: CrossFields) {
  const isCorporate = type === 'corporate';
  const missing = [
    ...(durationValue === null && durationUnitId !== null ? ['duration_value'] : []),
    ...(durationValue !== null && durationUnitId === null ? ['duration_unit'] : []),
    ...(isCorporate && customerId === null ? ['customer_id'] : []),
  ];
  const isForOthers = !isCorporate && customerId !== null;
  if (missing.length > 0 || isForOthers)
    throw Problem.invalidFields({ missing, ...(isForOthers && { rules: { customer_id: 'customer_not_corporate' } }) });
}

/** The unique index compares without regard to case only. */
async function assertTitleIsFree(w: WriteCtx, { title, isActive }: { title: string; isActive: boolean }, id?: number) {
  if (!isActive) return;
  const isEqual = tenantWhere(
    w,
    tables.courses,
    matchFolded(tables.courses.title, title).isEqual,
    // Not a parameter: the predicate of the index.
    sql`${tables.courses.isActive}`,
    isNull(tables.courses.deletedAt),
    id === undefined ? undefined : ne(tables.courses.id, id),
  );
  const [other] = await w.tx.select({ id: tables.courses.id }).from(tables.courses).where(isEqual).limit(1);
  if (other) throw equalTitle(other.id);
}

/** A partial update of each language sent; a translation without any text is deleted. Returns true if that changed any. */
async function updateTranslations(
  w: WriteCtx,
  courseId: number,
  translations: CourseChange['translations'],
): Promise<boolean> {
  if (translations === undefined) return false;
  const ofCourse = tenantWhere(w, tables.courseTranslations, eq(tables.courseTranslations.courseId, courseId));
  const existing = await w.tx.select().from(tables.courseTranslations).where(ofCourse);
  const textsByLanguage = new Map<string, Texts>(existing.map((row) => [row.languageId, row]));
  const updated = Object.entries(translations ?? {}).map(([languageId, texts]) => ({
    ...noTexts,
    ...(texts === null ? {} : { ...textsByLanguage.get(languageId), ...toTexts(texts) }),
    ...{ providerId: w.providerId, courseId, languageId },
  }));
  const languages = translations === null ? [...textsByLanguage.keys()] : Object.keys(translations);
  const isSame = updated.every((texts) => {
    const before = textsByLanguage.get(texts.languageId) ?? noTexts;
    return textColumns.every((column) => texts[column] === before[column]);
  });
  if (isSame && (translations !== null || languages.length === 0)) return false;
  await w.tx
    .delete(tables.courseTranslations)
    .where(and(ofCourse, inArray(tables.courseTranslations.languageId, languages)));
  const nonEmpty = updated.filter((texts) => textColumns.some((column) => texts[column] !== ''));
  if (nonEmpty.length > 0) await w.tx.insert(tables.courseTranslations).values(nonEmpty);
  return true;
}

const textColumns = Object.values(descriptionMembers);
type Texts = Pick<CourseRow, (typeof textColumns)[number]>;
const noTexts: Texts = byName(textColumns, () => '');

const toTexts = (texts: Partial<Record<keyof typeof descriptionMembers, string | null>>) =>
  Object.fromEntries(
    keysOf(texts).map((member) => [descriptionMembers[member], texts[member] ?? '']),
  ) as Partial<Texts>;

/** A course that is no longer corporate loses its customer, unless one is sent. */
const toCustomerColumn = ({ type, customer_id }: CourseChange) =>
  type !== undefined && type !== 'corporate' ? { customerId: customer_id ?? null } : {};

/** Leaves out what reads as the unset value that is stored. */
const withoutUnset = <T extends ReturnType<typeof toColumns>>(before: CourseRow, columns: T): T => ({
  ...columns,
  ...(before.isFullTime === null && columns.isFullTime === false ? { isFullTime: undefined } : {}),
  ...(before.isPartTime === null && columns.isPartTime === false ? { isPartTime: undefined } : {}),
  ...(before.priceValue === null && columns.priceValue === '0' ? { priceValue: undefined } : {}),
});

const definedOnly = <T extends object>(columns: T) =>
  Object.fromEntries(Object.entries(columns).filter(([, value]) => value !== undefined)) as {
    [K in keyof T]?: Exclude<T[K], undefined>;
  };
