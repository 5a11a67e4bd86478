import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Ctx, PageHintStore } from '../../database/context.ts';
import type { Counters } from '../../database/counters.ts';
import type { NeededVersions, OpenSnapshot, Snapshot } from '../../database/reader.ts';
import type { BacklogScheduler } from '../backlog-scheduler.ts';
import { handleConditionalGet, matchAnyTag, type Identify, type ReadAreas } from './conditional-get.ts';
import { withSpreadsheet, type ReadableList } from '../spreadsheets.ts';
import { createListLimiter, acquireSlot, releaseSlot, type ListLimits } from './list-limiter.ts';
import { createPageHintCache, createResponseCache, type ResponseCache } from './response-cache.ts';
import { failInFlight, coalesceRequests, storeResponse } from './single-flight.ts';
import { openListSnapshot } from './snapshots.ts';

export type { ListLimits };

declare module 'fastify' {
  interface FastifyInstance {
    listCache: {
      /** Null without a cache. */
      responses: ResponseCache | null;
      pageHints: ReturnType<typeof createPageHintCache>;
      /** Null without a limit. */
      limiter: ReturnType<typeof createListLimiter>;
      /** Absent if all lists are read from the pool. */
      openSnapshot: OpenSnapshot | undefined;
      /** Counts the lists that were queried. */
      counters: Pick<Counters, 'lists'>;
      scheduler: BacklogScheduler;
    };
  }
  interface FastifyContextConfig {
    /** Documents the ETag and the 304 of a list. */
    hasEtag?: true;
  }
  interface FastifyRequest {
    /** Null outside of lists. */
    listCache: ListRequest | null;
  }
}

type ListRequest = {
  /** Set where the response may be cached. */
  cacheKey?: string;
  /** Stores the response, or passes an error to the requests that wait for it; null makes them query themselves. */
  settle?: ReturnType<ResponseCache['start']>;
  /** Ends this request's share of the concurrency limit. */
  release?: () => void;
  /** Set where the response depends on nothing but these. */
  needed?: NeededVersions;
  /** Set while one is read. */
  snapshot?: Snapshot;
  /** Hints of this query, for the versions that the ETag names. */
  pageHints?: PageHintStore;
};

type ListCacheOptions = {
  bytes: number;
  limits: ListLimits | undefined;
  openSnapshot: OpenSnapshot | undefined;
  counters: Pick<Counters, 'lists'>;
  scheduler: BacklogScheduler;
};

/**
 * Creates the caches of lists and the limit of concurrent ones: this folder replies to a list with 304, from the cache
 * or from an equal request in flight, and otherwise waits for a slot. It patches nothing; each list's route spreads
 * `listRoute`, which has the hooks. `bytes` of 0 switches the cache off; without `limits` all lists run at once.
 */
export function decorateListCache(app: FastifyInstance, { bytes, limits, ...rest }: ListCacheOptions) {
  app.decorate('listCache', {
    responses: bytes === 0 ? null : createResponseCache(bytes),
    pageHints: createPageHintCache(),
    limiter: createListLimiter(limits),
    ...rest,
  });
  app.decorateRequest('listCache', null);
}

/** Route options of a list, and the context that its handler reads with. */
export const listRoute = {
  /** Adds the page hints of the query to the context, and the snapshot if one is read. */
  toCtx({ ctx, listCache }: Pick<FastifyRequest, 'ctx' | 'listCache'>): Ctx {
    const { pageHints, snapshot } = listCache ?? {};
    return { ...ctx, ...(pageHints && { pageHints }), ...(snapshot && { db: snapshot.db }) };
  },
  /**
   * 304 by ETag, then the response cache, then the concurrency limit, then single-flight, then a snapshot. A query that is
   * true for `unless` depends on more than the provider's data; it has neither ETag nor cache. Where `list` has a
   * spreadsheet, it is also sent as CSV.
   */
  cached: (
    readAreas: ReadAreas,
    unless: (query: Record<string, unknown>) => boolean = never,
    list?: ReadableList<never>,
  ) => withSpreadsheet(list, cachedHooks([handleConditionalGet(readAreas, unless)])),
  /**
   * `cached` for a page or a feed: `limit` may refuse a request that is not answered from memory, whose error no other
   * request shares, and `countMore` runs for the one that computes the response.
   */
  document: (readAreas: ReadAreas, identify: Identify, limit: AsyncHook, countMore: AsyncHook) =>
    cachedHooks([handleConditionalGet(readAreas, never, { identify }), limit], [countMore]),
  /** `cached` without the response cache, for lists whose queries rarely repeat and documents with an own cache. */
  conditional: (readAreas: ReadAreas, identify?: Identify) => ({
    config: { hasEtag: true as const },
    preHandler: [
      begin,
      handleConditionalGet(readAreas, never, { isStored: false, identify }),
      acquireSlot,
      openListSnapshot,
    ],
    onSend: [releaseSlot, matchAnyTag],
  }),
  /** The concurrency limit alone, for a list that depends on the clock, and so has no ETag. */
  limited: { preHandler: [begin, acquireSlot, openListSnapshot], onSend: releaseSlot },
};

const never = () => false;

type AsyncHook = (request: FastifyRequest) => Promise<void>;

const cachedHooks = (first: (ReturnType<typeof handleConditionalGet> | AsyncHook)[], last: AsyncHook[] = []) => ({
  config: { hasEtag: true as const },
  preHandler: [begin, ...first, acquireSlot, coalesceRequests, ...last, openListSnapshot],
  onSend: [releaseSlot, storeResponse, matchAnyTag],
  onError: failInFlight,
});

function begin(request: FastifyRequest, _reply: FastifyReply, done: () => void) {
  request.listCache = {};
  done();
}
