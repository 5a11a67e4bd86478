import type { Static } from '@sinclair/typebox';
import { asc, desc, gte, sql } from 'drizzle-orm';
import type { Ctx } from '../../../database/context.ts';
import { Problem } from '../../../core/errors.ts';
import { events } from '../../../database/tables/events.ts';
import { formatExactTimestamp } from '../../../core/timestamps.ts';
import { tenantWhere } from '../../../lists/tenant-scope.ts';
import { maxLimit, type Change } from './schema.ts';

type ChangeQuery = { since?: string; types?: string[]; limit?: number };

/** An event by its id and its time in microseconds: after a restore of the database, ids are given again. */
export type Position = { id: number; clock: number };

const defaultLimit = 100;
/** The most events that a request for certain types reads. */
const maxScanned = 5_000;

/** The changes after a cursor; without one no changes, and the cursor of now. */
export async function listChanges(ctx: Ctx, { since, types, limit = defaultLimit }: ChangeQuery) {
  if (since === undefined) return { items: [], cursor: toCursor(ctx, await findNewest(ctx)), has_more: false };
  const page = await readChanges(ctx, parseCursor(ctx, since), { types, limit: Math.min(limit, maxLimit) });
  if (!page) throw Problem.invalidCursor();
  return { items: page.items.map(toChange), cursor: toCursor(ctx, page.position), has_more: page.hasMore };
}

type Event = Position & Omit<Static<typeof Change>, 'at' | 'into'> & { at: string; into: number | null };

/** Up to `limit` changes of these types after a position, and where to continue; undefined for an unknown position. */
export async function readChanges(
  ctx: Ctx,
  from: Position,
  { types, limit }: { types?: string[] | undefined; limit: number },
) {
  const scannedMax = types ? maxScanned : limit + 1;
  // With the event of the position first.
  const [first, ...scanned] = await readEvents(ctx, from.id, scannedMax + 1);
  if (first?.id !== from.id || first.clock !== from.clock) return undefined;
  const matching = types ? scanned.filter(isOfType(types)) : scanned;
  const items = matching.slice(0, limit);
  const isWhole = matching.length <= limit;
  const last = isWhole ? scanned.at(-1) : items.at(-1);
  return { items, position: last ?? first, hasMore: !isWhole || scanned.length === scannedMax };
}

function isOfType(types: string[]) {
  const resources = new Set(types.map((type) => type.split('.')[0]));
  return ({ type, resource }: Event) => types.includes(type) || (type === 'resync' && resources.has(resource));
}

const eventColumns = {
  id: events.id,
  clock: sql<number>`(extract(epoch from ${events.at}) * 1000000)::bigint`.mapWith(Number),
};

const readEvents = (ctx: Ctx, fromId: number, limit: number): Promise<Event[]> =>
  ctx.db
    .select({
      ...eventColumns,
      at: events.at,
      type: sql<string>`case ${events.change} when 'resync' then 'resync' else ${events.resource} || '.' || ${events.change} end`,
      resource: events.resource,
      resource_id: events.resourceId,
      into: events.intoId,
    })
    .from(events)
    .where(tenantWhere(ctx, events, gte(events.id, fromId)))
    .orderBy(asc(events.id))
    .limit(limit);

/** The newest event, of which every provider has one. */
export async function findNewest(ctx: Ctx): Promise<Position> {
  const [newest] = await ctx.db
    .select(eventColumns)
    .from(events)
    .where(tenantWhere(ctx, events))
    .orderBy(desc(events.id))
    .limit(1);
  if (!newest) throw new Error('a provider without an event');
  return newest;
}

const toChange = ({ id, type, resource, resource_id, at, into }: Event) => ({
  id,
  type,
  resource,
  resource_id,
  at: formatExactTimestamp(at),
  ...(into === null ? {} : { into }),
});

const toCursor = ({ providerId }: Ctx, { id, clock }: Position) =>
  Buffer.from([providerId, id, clock].join('.')).toString('base64url');

function parseCursor({ providerId }: Ctx, cursor: string): Position {
  const [, provider, id, clock] =
    /^(\d+)\.(\d{1,16})\.(\d{1,16})$/.exec(Buffer.from(cursor, 'base64url').toString()) ?? [];
  if (Number(provider) !== providerId) throw Problem.invalidCursor();
  return { id: Number(id), clock: Number(clock) };
}
