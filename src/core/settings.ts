import type { Language } from './reference/language.ts';

/** Configuration that responses depend on. */
export type Settings = {
  /** IANA name. */
  timezone: string;
  defaultLanguage: Language;
  /** Base URL of this server for clients, without a trailing slash. */
  publicUrl: string;
  /** Base URL of the public catalog, or null without one. */
  catalogUrl: string | null;
  /** Years after that of an invoice in which its buyer is not erased; default 5. */
  invoiceRetentionYears?: number;
};

/** Host name in the UIDs of calendar entries, as the database has it; that of `publicUrl` in a trial. */
export const toUidHost = (stored: string | null, { publicUrl }: Pick<Settings, 'publicUrl'>) =>
  stored ?? new URL(publicUrl).hostname;

/** The path prefix of PUBLIC_URL, without a trailing slash, that a proxy strips from requests. */
export const toBasePath = (publicUrl: string) => new URL(publicUrl).pathname.replace(/\/$/, '');
