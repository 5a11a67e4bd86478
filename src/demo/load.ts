import type { Ctx, Settings } from '../core/context.ts';
import type { Database } from '../database/client.ts';
import { customers } from '../database/tables/customers.ts';
import { addCategory } from '../resources/categories/service.ts';
import { categorizeCourse, createCourse } from '../resources/courses/service.ts';
import { approvePartner, requestPartner } from '../resources/partners/service.ts';
import { contextOf, createProvider, hasNoProviders } from '../resources/providers/service.ts';
import { toColumns } from '../resources/schools/service.ts';
import { demoCategories } from './content/categories.ts';
import { demoCourses } from './content/courses.ts';
import { demoCustomers } from './content/customers.ts';
import { demoSchool, partners, pendingPartner, subSchool } from './content/schools.ts';
import type { DemoCourse, DemoProvider } from './content/types.ts';

/**
 * Fills an empty database with a school, its partners and its courses, through the services that clients call; all of
 * it or nothing. The demo school is the first provider; its key is asked for once it is sure to be made, and returned. Null when the database has providers already.
 */
export function loadDemo(database: Database, settings: Settings, newKey: () => string): Promise<string | null> {
  return database.atomically(async (within) => {
    if (!(await hasNoProviders(within))) return null;
    const categoryIds = await addCategories(within);
    const make = (provider: DemoProvider, parentId: number | null = null, key?: string) =>
      makeProvider(within, settings, categoryIds, provider, parentId, key);

    const apiKey = newKey();
    const demo = await make({ school: demoSchool, courses: demoCourses }, null, apiKey);
    for (const partner of partners) await approvePartner(within, demo, await make(partner));
    await requestPartner(within, demo, await make(pendingPartner));
    await make(subSchool, demo);
    return apiKey;
  });
}

async function addCategories(database: Database) {
  const ids = new Map<string, number>();
  for (const { slug, title, parent } of demoCategories) {
    ids.set(
      slug,
      await addCategory(database, { slug, title, parentId: parent === undefined ? null : ids.get(parent)! }),
    );
  }
  return ids;
}

async function makeProvider(
  database: Database,
  settings: Settings,
  categoryIds: Map<string, number>,
  { school, courses }: DemoProvider,
  parentId: number | null,
  apiKey?: string,
) {
  const { providerId } = await createProvider(database, { ...toColumns(school), parentId }, apiKey);
  const ctx = await contextOf(database, settings, providerId);
  const customerIds = school === demoSchool ? await addCustomers(ctx) : new Map<string, number>();
  for (const course of courses) await addCourse(ctx, categoryIds, customerIds, course);
  return providerId;
}

async function addCustomers(ctx: Ctx) {
  const ids = new Map<string, number>();
  await ctx.write(async (tx, at) => {
    for (const customer of demoCustomers) {
      const values = {
        providerId: ctx.providerId,
        title: customer.title,
        type: customer.type,
        orgnr: customer.orgnr,
        email: customer.email,
        phone: customer.phone,
        country: customer.country,
        postAddress: customer.post_address_1,
        postZipcode: customer.post_zipcode,
        postCity: customer.post_city,
        createdAt: at,
        updatedAt: at,
      };
      const [made] = await tx.insert(customers).values(values).returning({ id: customers.id });
      ids.set(customer.title, made!.id);
    }
  });
  return ids;
}

async function addCourse(
  ctx: Ctx,
  categoryIds: Map<string, number>,
  customerIds: Map<string, number>,
  { categories, customer, tags = [], labels = [], ...course }: DemoCourse,
) {
  const courseId = await createCourse(ctx, {
    ...course,
    tags: tags.map((title) => ({ title })),
    labels: labels.map((title) => ({ title })),
    ...(customer === undefined ? {} : { customer_id: customerIds.get(customer)! }),
  });
  for (const slug of categories) await categorizeCourse(ctx, courseId, categoryIds.get(slug)!);
}
