import type { TSchema } from '@sinclair/typebox';
import { LRUCache } from 'lru-cache';
import type { Ctx } from '../../../database/context.ts';
import { Problem } from '../../../core/errors.ts';
import type { eventResources } from '../../../database/tables/events.ts';
import { compileSerializer } from '../../../http/list-serializer.ts';
import { Campaign } from '../../../domains/orders/campaigns/fields.ts';
import { findListedCampaign } from '../../../domains/orders/campaigns/service.ts';
import { courseDateList } from '../../../domains/courses/coursedates/list.ts';
import { courseItem } from '../../../domains/courses/courses/list.ts';
import { customerList } from '../../../domains/people/customer-list/list.ts';
import { instructorList } from '../../../domains/courses/instructors/list.ts';
import { locationList } from '../../../domains/courses/locations/list.ts';
import { orderList } from '../../../domains/orders/orders/list.ts';
import { participantList } from '../../../domains/participants/participants/list.ts';
import { paymentList } from '../../../domains/orders/payments/list.ts';
import { School } from '../../../domains/school/schools/fields.ts';
import { getSchool } from '../../../domains/school/schools/service.ts';
import { ListedTag } from '../../../domains/courses/tags/fields.ts';
import { findTag } from '../../../domains/courses/tags/service.ts';
import { courseUserList } from '../../../domains/people/users/list.ts';

type Resource = (typeof eventResources)[number];
type Load = (ctx: Ctx, id: number) => Promise<unknown>;

/** Characters of an item; a larger one is left out. */
const maxItemLength = 1_000_000;

const inList = ({ View, byId }: { View: TSchema; byId: Load }) => source(View, (ctx, id) => byId(ctx, id));

/** Loads items, and serializes them as the interface does. Compiled when it is first needed. */
function source(schema: TSchema, load: Load) {
  let compiled: ReturnType<typeof compileSerializer> | undefined;
  return { load, serialize: (item: unknown) => (compiled ??= compileSerializer(schema))(item) };
}

/** Messages of bookings have no item. */
const sources: Record<Exclude<Resource, 'booking'>, ReturnType<typeof source>> = {
  course: inList(courseItem),
  coursedate: inList(courseDateList),
  participant: inList(participantList),
  offer: inList(participantList),
  order: inList(orderList),
  payment: inList(paymentList),
  customer: inList(customerList),
  courseuser: inList(courseUserList),
  instructor: inList(instructorList),
  location: inList(locationList),
  campaign: source(Campaign, findListedCampaign),
  tag: source(ListedTag, findTag),
  school: source(School, getSchool),
};

type Loaded = { item: unknown; length: number };
export type ItemCache = ReturnType<typeof createItemCache>;

/** Items of the latest events, so that several webhooks of a school load each one once. */
export function createItemCache() {
  const loaded = new LRUCache<string, Loaded, () => Promise<Loaded>>({
    ...{ max: 100, ttl: 1_000, ignoreFetchAbort: true },
    maxSize: 10 * maxItemLength,
    sizeCalculation: ({ length }) => length,
    fetchMethod: (_event, _stale, { context }) => context(),
  });
  return {
    find: async (event: string, load: () => Promise<Loaded>) => (await loaded.fetch(event, { context: load }))!.item,
  };
}

/** The cache accepts no length of 0. */
const noItem: Loaded = { item: undefined, length: 1 };

/** The item as the interface shows it; null if hidden, undefined if large, and for bookings and sub-schools. */
export async function loadItem(ctx: Ctx, resource: Resource, id: number): Promise<Loaded> {
  if (resource === 'booking') return noItem;
  // Another one is a sub-school, which has a key of its own.
  if (resource === 'school' && id !== ctx.providerId) return noItem;
  const { load, serialize } = sources[resource];
  try {
    const item = await load(ctx, id);
    if (item === undefined) return { item: null, length: 1 };
    const text = serialize(item);
    return text.length > maxItemLength ? noItem : { item: JSON.parse(text), length: text.length };
  } catch (error) {
    // It is larger than a response may be.
    if (error instanceof Problem) return noItem;
    throw error;
  }
}
