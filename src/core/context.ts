import type { Reader, Write, WriteNewProvider } from '../database/client.ts';
import type { Queryable } from '../database/statements.ts';
import type { Language } from '../reference/language.ts';

/** What shapes answers and is the same for every request of the process. */
export type Settings = {
  /** The service's time zone, an IANA name. */
  timezone: string;
  defaultLanguage: Language;
  /** Where this server is reached from outside, without a trailing slash. */
  publicUrl: string;
  /** Where the public catalog lives, or null when there is none. */
  catalogUrl: string | null;
  /** How many open sub-schools a school may have; 50 unless given. */
  subSchoolsMax?: number;
};

/** Switched off only by tests that prove a guard is needed; a running server has no way to reach them. */
export type Guards = {
  /** The equal-title rule is looked at before the unique index is. */
  equalTitle: boolean;
  /** A voucher is only spent while it holds the amount. */
  voucherBalance: boolean;
};
export const allGuards: Guards = { equalTitle: true, voucherBalance: true };

/** What earlier answers told of a list's question, whatever page was asked for. */
export type PageHints = {
  /** How many items there are on all pages. */
  total?: Promise<number>;
  /** Behind so many there are none. */
  maxCount?: number;
  /** Where pages in the order of ids ended: the last id by how many items there are up to it. */
  cursors: Map<number, number>;
};
/** What is known of a list's questions while the data is as it is. */
export type PageHintStore = {
  find(question: string): PageHints | undefined;
  /** The same, with room for what is found out. */
  open(question: string): PageHints;
};

/** Rows and bytes that an answer may still read; `take` throws `ResultTooLarge` when they are used up. */
export type Budget = {
  take(rows: number, bytes: number): void;
  isSpent(): boolean;
  bytesTaken(): number;
  /** The answer to a write that is committed: it was within its bounds before. */
  isAfterWrite?: true;
};

/** Who is asking, and the database to ask. The only thing a service is ever handed besides its input. */
export type Ctx = {
  providerId: number;
  /** The root of the parent chain, which shares its rate limit and its turns in every queue with its sub-schools. */
  fairnessKey: number;
  /** The provider's clock when the key was checked, as PostgreSQL writes it, with microseconds. */
  version: string;
  /**
   * Version of the tenant's and the shared data; part of every ETag and cache key. Includes xmin and the server start time,
   * so a restored backup never repeats a version.
   */
  dataVersion: string;
  language: Language;
  settings: Settings;
  guards: Guards;
  /** Reads only. */
  db: Reader;
  /** People's doors alone (tokens, sessions, failed sign-ons): no data of the provider's, so they take no lock. */
  authStore: Queryable;
  /** Writes only through this: it takes the provider's lock first. */
  write: Write;
  /** Makes a provider below this one. */
  writeNewProvider: WriteNewProvider;
  /** Absent where the answer depends on more than the provider's data. */
  pageHints?: PageHintStore;
  /** Absent where what is read is bounded by other means. */
  budget?: Budget;
};
