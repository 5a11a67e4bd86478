import { asc, desc, eq, isNull, sql } from 'drizzle-orm';
import type { Ctx, WriteCtx } from '../../../database/context.ts';
import { Problem } from '../../../core/errors.ts';
import { campaignCourses, campaignCustomers, campaigns, campaignTags } from '../../../database/tables/campaigns.ts';
import { tags } from '../../../database/tables/catalog.ts';
import { caseFolded } from '../../../database/tables/columns.ts';
import { courseDates } from '../../../database/tables/coursedates.ts';
import { courses } from '../../../database/tables/courses.ts';
import { customers } from '../../../database/tables/customers.ts';
import { bodyWriter } from '../../../lists/body-writer.ts';
import { itemOperations } from '../../../lists/item-operations.ts';
import { replaceLinks } from '../../../lists/links.ts';
import { newBudget } from '../../../lists/response-budget.ts';
import { sameTenant, tenantWhere } from '../../../lists/tenant-scope.ts';
import { defineTimestampFilters } from '../../../lists/list-query.ts';
import { CampaignBody, toEmbeddedCampaign, type CampaignChange, type CampaignDetails } from './fields.ts';
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
const writer = bodyWriter(campaigns, CampaignBody, linked);
export const campaignReferences = writer.references;

const constraints = {
  campaigns_code: () =>
    Problem.coded('equal_code', 'A campaign with an equal code exists already', { notValid: ['campaign_code'] }),
  campaigns_discount: () => Problem.invalidFields({ rules: { discount_value: 'percentage_too_large' } }),
  campaigns_window: () => Problem.invalidFields({ rules: { ends_at: 'end_before_start' } }),
};

async function find(ctx: Ctx, id: number) {
  const campaign = tenantWhere(ctx, campaigns, eq(campaigns.id, id));
  const rows = await ctx.db.select(campaignColumns).from(campaigns).where(campaign);
  return (await campaignDetailsSerializer.embed(ctx, rows, {}, []))[0];
}

/** Orders still show an archived campaign. */
export const campaignOperations = itemOperations<CampaignDetails, CampaignBody, CampaignChange>({
  ...{ item: 'Campaign', table: campaigns, areas: ['money'], writer, find, writeLinks: replaceLinked, constraints },
});

/** Replaces the courses, customers and tags, each if it is sent; returns true if that changed any. */
async function replaceLinked(w: WriteCtx, campaignId: number, { courses, customers, tags }: CampaignChange) {
  const owner = { campaignId };
  const changes = [
    courses !== undefined && (await replaceLinks(w, campaignCourses, owner, 'courseId', courses ?? [])),
    customers !== undefined && (await replaceLinks(w, campaignCustomers, owner, 'customerId', customers ?? [])),
    tags !== undefined && (await replaceLinks(w, campaignTags, owner, 'tagId', tags ?? [])),
  ];
  return changes.some(Boolean);
}

/** Finds a campaign of the course by its code, running or not; archived ones come last. */
export async function validateCampaign(ctx: Ctx, code: string, target: { coursedate_id?: number; course_id?: number }) {
  const courseId = await findCourseId(ctx, target);
  const named = tenantWhere(ctx, campaigns, sql`${caseFolded(campaigns.campaignCode)} = ${caseFolded(code)}`);
  const [found] = await ctx.db
    .select({ campaign: campaignColumns, forCourse })
    .from(campaigns)
    .innerJoin(courses, sameTenant(courses, campaigns, eq(courses.id, courseId)))
    .where(named)
    .orderBy(asc(campaigns.isArchived), desc(campaigns.id))
    .limit(1);
  if (!found) throw Problem.notFound('Campaign');
  if (!found.forCourse) throw Problem.coded('campaign_code_invalid', 'The campaign is not for this course');
  const campaign = toEmbeddedCampaign(found.campaign, {}, ctx);
  return { successful: true, campaign: { ...campaign, id: String(found.campaign.id) } };
}

const forCourse = sql<boolean>`${sql.raw(isForCourse('campaigns.provider_id', 'campaigns', 'courses.id'))}`;

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
