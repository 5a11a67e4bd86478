import type { Ctx } from '../../../database/context.ts';
import { formatExactTimestamp } from '../../../core/timestamps.ts';
import { eventChanges, eventResources } from '../../../database/tables/events.ts';
import type { Position, readChanges } from '../../../domains/records/changes/service.ts';
import type { Message } from './schema.ts';
import { loadItem, type ItemCache } from './items.ts';

type Event = NonNullable<Awaited<ReturnType<typeof readChanges>>>['items'][number];
/** Content of a message: an event, or a request to read all items of a resource again. */
export type Notice = Pick<Event, 'type' | 'resource' | 'resource_id' | 'into'> & {
  id: string;
  eventId: number;
  at: string;
};

/** The clock is part of the id: after a restore of the database the ids of events are given again. */
const toMessageId = ({ id, clock }: Position) => `evt_${id}_${clock}`;

export const toNotice = ({ id, clock, type, resource, resource_id, at, into }: Event): Notice => ({
  ...{ id: toMessageId({ id, clock }), eventId: id, at: formatExactTimestamp(at) },
  ...{ type, resource, resource_id, into },
});

export function toResyncNotice(resync: string, position: Position): Notice {
  const [resource, milliseconds] = resync.split('_') as [Event['resource'], string];
  return {
    ...{ id: `${toMessageId(position)}_${resync}`, eventId: position.id },
    ...{ type: 'resync', resource, resource_id: null, into: null, at: new Date(Number(milliseconds)).toISOString() },
  };
}

const knownNames = new Set<string | undefined>([...eventResources, ...eventChanges]);

/** False for an event of a newer version, whose servers know how to send it. */
export const isKnown = ({ type, resource }: Notice) =>
  [resource, type.split('.').at(-1)].every((name) => knownNames.has(name));

type Options = { payload: 'full' | 'thin'; cache: ItemCache };

/** `thin` holds ids alone; else the item is as the interface shows it now, null if it does not any more. */
export async function toMessage(ctx: Ctx, notice: Notice, { payload, cache }: Options): Promise<Message> {
  const { id, eventId, type, resource, resource_id, into, at } = notice;
  const data = { id: eventId, resource, resource_id, ...(into === null ? {} : { into }) };
  const findItem = async () => {
    if (/\.(deleted|merged|erased)$/.test(type)) return null;
    return cache.find(`${ctx.providerId} ${eventId}`, () => loadItem(ctx, resource, resource_id!));
  };
  const isThin = payload === 'thin' || resource_id === null;
  const item = isThin ? undefined : await findItem();
  return { id, type, timestamp: at, data: { ...data, ...(item === undefined ? {} : { item }) } };
}
