import { asc, desc, eq, isNull, sql } from 'drizzle-orm';
import type { Ctx } from '../../../database/context.ts';
import { Problem } from '../../../core/errors.ts';
import { campaignCourses, campaignCustomers, campaigns, campaignTags } from '../../../database/tables/campaigns.ts';
import { tags } from '../../../database/tables/catalog.ts';
import { caseFolded } from '../../../database/tables/columns.ts';
import { courseDates } from '../../../database/tables/coursedates.ts';
import { courses } from '../../../database/tables/courses.ts';
import { customers } from '../../../database/tables/customers.ts';
import { bodyWriter } from '../../../lists/body-writer.ts';
import { replaceLinks } from '../../../lists/links.ts';
import { newBudget } from '../../../lists/response-budget.ts';
import { tenantWhere } from '../../../lists/tenant-scope.ts';
import { defineTimestampFilters } from '../../../lists/list-query.ts';
import { CampaignBody, type CampaignChange } from './body-schema.ts';
import { toEmbeddedCampaign, type CampaignDetails } from './schema.ts';
import { campaignColumns, isForCourse } from './loaders.ts';
import { campaignDetailsSerializer, campaignSerializer } from './serializer.ts';

export const campaignFilters = defineTimestampFilters(campaigns);

async function loadCampaigns(ctx: Ctx, condition: ReturnType<typeof campaignFilters.where>) {
  const rows = await ctx.db
    .select(campaignColumns)
    .from(campaigns)
    .where(tenantWhere(ctx, campaigns, condition))
    .orderBy(asc(campaigns.id));
  return campaignSerializer.embed({ ...ctx, budget: newBudget() }, rows, {}, []);
}

/** All campaigns of the provider, without paging. */
export const listCampaigns = (ctx: Ctx, query: Parameters<typeof campaignFilters.where>[1]) =>
  loadCampaigns(ctx, campaignFilters.where(ctx, query));

/** A campaign as in the list; undefined if there is none. */
export const findListedCampaign = async (ctx: Ctx, id: number) => (await loadCampaigns(ctx, eq(campaigns.id, id)))[0];

const linked = { courses: courses.id, customers: customers.id, tags: tags.id };
const { toColumns, toUpdatedColumns, insert, references } = bodyWriter(campaigns, CampaignBody, linked);
export const campaignReferences = references;

const constraints = {
  campaigns_code: () =>
    Problem.coded('equal_code', 'A campaign with an equal code exists already', { notValid: ['campaign_code'] }),
  campaigns_discount: () => Problem.invalidFields({ rules: { discount_value: 'percentage_too_large' } }),
  campaigns_window: () => Problem.invalidFields({ rules: { ends_at: 'end_before_start' } }),
};

const matchCampaign = (ctx: Ctx, id: number) => tenantWhere(ctx, campaigns, eq(campaigns.id, id));

/** Archived ones too. */
export async function getCampaign(ctx: Ctx, id: number): Promise<CampaignDetails> {
  const rows = await ctx.db.select(campaignColumns).from(campaigns).where(matchCampaign(ctx, id));
  return Problem.assertFound((await campaignDetailsSerializer.embed(ctx, rows, {}, []))[0], 'Campaign');
}

export async function createCampaign(ctx: Ctx, body: CampaignBody): Promise<CampaignDetails> {
  const { type = 'Campaign', discount_type: discountType, discount_value } = body;
  const work = ctx.write(['money'], async (tx, now) => {
    await references.assertKnown(body, { ctx, reader: tx });
    const own = { providerId: ctx.providerId, createdAt: now, updatedAt: now };
    const columns = { ...toColumns(body), type, discountType, discountValue: String(discount_value), ...own };
    const id = tx.recordAffected(await insert(tx, columns));
    await replaceLinked(ctx, tx, id, body);
    return getCampaign({ ...ctx, db: tx }, id);
  });
  return Problem.mapConstraints(constraints, work);
}

export async function updateCampaign(ctx: Ctx, id: number, body: CampaignChange): Promise<CampaignDetails> {
  const work = ctx.write(['money'], async (tx, now) => {
    if ((await tx.$count(campaigns, matchCampaign(ctx, id))) === 0) throw Problem.notFound('Campaign');
    await references.assertKnown(body, { ctx, reader: tx });
    const updatedAt = (await replaceLinked(ctx, tx, id, body)) ? now : undefined;
    const values = { ...toUpdatedColumns(body), updatedAt };
    if ((await tx.updateChanged(campaigns, matchCampaign(ctx, id), values, now)) === 0) tx.rollbackNoChange();
  });
  await Problem.mapConstraints(constraints, work);
  return getCampaign(ctx, id);
}

/** Idempotent. Orders still show an archived campaign. */
export async function archiveCampaign(ctx: Ctx, id: number): Promise<CampaignDetails> {
  await ctx.write(['money'], async (tx, now) => {
    if ((await tx.$count(campaigns, matchCampaign(ctx, id))) === 0) throw Problem.notFound('Campaign');
    const changed = await tx.updateChanged(campaigns, matchCampaign(ctx, id), { isArchived: true }, now);
    if (changed === 0) tx.rollbackNoChange();
  });
  return getCampaign(ctx, id);
}

/** Replaces the courses, customers and tags, each if it is sent; returns true if that changed any. */
async function replaceLinked(
  ctx: Ctx,
  tx: Parameters<typeof replaceLinks>[1],
  campaignId: number,
  { courses, customers, tags }: CampaignChange,
) {
  const owner = { campaignId };
  const changes = [
    courses !== undefined && (await replaceLinks(ctx, tx, campaignCourses, owner, 'courseId', courses ?? [])),
    customers !== undefined && (await replaceLinks(ctx, tx, campaignCustomers, owner, 'customerId', customers ?? [])),
    tags !== undefined && (await replaceLinks(ctx, tx, campaignTags, owner, 'tagId', tags ?? [])),
  ];
  return changes.some(Boolean);
}

/** Finds a campaign of the course by its code, running or not; archived ones come last. */
export async function validateCampaign(ctx: Ctx, code: string, target: { coursedate_id?: number; course_id?: number }) {
  const courseId = await findCourseId(ctx, target);
  const named = tenantWhere(ctx, campaigns, sql`${caseFolded(campaigns.campaignCode)} = ${caseFolded(code)}`);
  const forCourse = sql<boolean>`${sql.raw(isForCourse(String(ctx.providerId), 'campaigns', String(courseId)))}`;
  const [found] = await ctx.db
    .select({ campaign: campaignColumns, forCourse })
    .from(campaigns)
    .where(named)
    .orderBy(asc(campaigns.isArchived), desc(campaigns.id))
    .limit(1);
  if (!found) throw Problem.notFound('Campaign');
  if (!found.forCourse) throw Problem.coded('campaign_code_invalid', 'The campaign is not for this course');
  return { successful: true, campaign: { ...toEmbeddedCampaign(found.campaign), id: String(found.campaign.id) } };
}

export const missingCourseId = () => Problem.coded('missing_course_id', 'coursedate_id or course_id is missing');

async function findCourseId(ctx: Ctx, { coursedate_id, course_id }: { coursedate_id?: number; course_id?: number }) {
  if (coursedate_id !== undefined) {
    const date = tenantWhere(ctx, courseDates, eq(courseDates.id, coursedate_id), isNull(courseDates.deletedAt));
    const [row] = await ctx.db.select({ courseId: courseDates.courseId }).from(courseDates).where(date);
    return Problem.assertFound(row, 'Course date').courseId;
  }
  if (course_id === undefined) throw missingCourseId();
  const course = tenantWhere(ctx, courses, eq(courses.id, course_id), isNull(courses.deletedAt));
  const [row] = await ctx.db.select({ id: courses.id }).from(courses).where(course);
  return Problem.assertFound(row, 'Course').id;
}
