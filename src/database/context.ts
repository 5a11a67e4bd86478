import type { Area, Areas } from './areas.ts';
import type { Reader, Write, WriteNewProvider } from './client.ts';
import type { UnlockedStore } from './reader.ts';
import type { Language } from '../core/reference/language.ts';
import type { KeyProfile } from '../core/api-key.ts';
import type { Settings } from '../core/settings.ts';

/** The clock of each area and of shared data, with the server's start time; ETags contain those that a list reads. */
export type Versions = Record<Area | 'shared', string>;

/** Facts that earlier pages of a query established, valid for one version of the areas that it reads. */
export type PageHints = {
  /** Number of items on all pages. */
  total?: Promise<number>;
  /** Upper bound of the number of items. */
  maxCount?: number;
  /** Last ids of pages in id order, by the number of items up to them. */
  cursors: Map<number, number>;
};
/** Page hints by query, for the current versions. */
export type PageHintStore = {
  find(queryKey: string): PageHints | undefined;
  /** Creates the hints if they do not exist. */
  open(queryKey: string): PageHints;
};

/** Rows and bytes that the statements of a response may still read. */
export type Budget = { rows: number; bytes: number };

/** The school of a publishable key. */
type PublicSchool = {
  id: number;
  /** False hides its catalog. */
  isActive: boolean;
  /** Origins of the web pages that may use the key. */
  origins: readonly string[];
  /** The quarter of an hour of the database's clock: deadlines, which hide dates, end with one in every time zone. */
  quarter: string;
};

/** The authenticated tenant and its database access. Services take it as their first parameter. */
export type Ctx = {
  /** 0 with a publishable key: no row has it, so that nothing but the public items of `publishableFor` is in scope. */
  providerId: number;
  publishableFor?: PublicSchool;
  /** Absent outside requests. */
  key?: { id: number; profile: KeyProfile };
  /** Root of the parent chain, whose schools share the rate limit and queue slots; negative with publishable keys. */
  tenantQueueKey: number;
  /** The tenant's clock at authentication, in PostgreSQL's format with microseconds. */
  version: string;
  /** Absent outside requests. */
  versions?: Versions;
  language: Language;
  settings: Settings;
  /** Read-only. */
  db: Reader;
  /** Tokens, sessions, failed sign-ins and states of deliveries: written without the tenant lock. */
  unlockedStore: UnlockedStore;
  /** The only way to write rows of the tenant, in these areas; takes the tenant lock first. The work may run again. */
  write: <T>(this: Ctx, areas: Areas, work: (w: WriteCtx) => Promise<T>) => Promise<T>;
  /** Creates a sub-school of this provider. */
  writeNewProvider: WriteNewProvider;
  /** Absent if the response depends on data of other tenants. */
  pageHints?: PageHintStore;
  /** Absent if the result is limited by other means. */
  budget?: Budget | undefined;
};

/** A context whose tenant is locked. */
export type WriteCtx = Ctx & Write;
/** The members that also a write without a context has. */
export type SchoolWrite = Pick<Ctx, 'providerId'> & Write;

/** The school that a context reads, also with a publishable key. */
export const getSchoolId = ({ providerId, publishableFor }: Pick<Ctx, 'providerId' | 'publishableFor'>) =>
  publishableFor?.id ?? providerId;

/** Repeats a write until it returns something, so that each holds the lock for a short time only. */
export async function writeInBatches<T>(
  ctx: Ctx,
  areas: Areas,
  work: (w: WriteCtx, isFirst: boolean) => Promise<T | undefined>,
): Promise<T> {
  for (let isFirst = true; ; isFirst = false) {
    const result = await ctx.write(areas, (w) => work(w, isFirst));
    if (result !== undefined) return result;
  }
}

export const findContext = ({ ctx }: { ctx?: Ctx }) => ctx;
