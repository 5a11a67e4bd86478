import type { Venue } from '../../../core/address-format.ts';
import type { DateSpan } from '../../../core/date-format.ts';
import type { Language } from '../../../core/reference/language.ts';
import type { RowOf } from '../../../database/statement.ts';
import type { ShownGathering } from '../../../domains/courses/gatherings/loaders.ts';
import type { claimMails } from './sql.ts';

export type Attempted = { id: number; attempts: number };

export type ClaimedMail = RowOf<typeof claimMails> & {
  /** Notices of the same lease that this mail lists. */
  digest?: Attempted[];
};

export type MailGathering = Omit<ShownGathering, 'courseDateId' | 'isOver' | 'number'>;

/** Time and place of a date before a change. */
export type Schedule = DateSpan &
  Venue & { zone: string; eventUrl: string | null; gatherings: MailGathering[] | null; isCanceled: boolean };

export type CalendarPart = { method: 'REQUEST' | 'CANCEL' | 'PUBLISH'; content: string };
export type MailCalendar = {
  /** The first event, for programs, which act on it. */
  alternative: CalendarPart | null;
  /** All events, for the reader to open. */
  attachment: CalendarPart | null;
};

/** Names with their values, line by line. */
export type Fact = { name: string; lines: string[]; isList?: boolean; hasLinks?: boolean };

/** Facts below a title. Those of amounts have the amount in the first line. */
export type Section = { title: string; rows: Fact[]; isAmounts?: boolean };

/** Content of a letter, before it is rendered. */
export type Letter = {
  language: Language;
  subject: string;
  greeting: string;
  opening: string[];
  facts: Fact[];
  sections: Section[];
  button: { label: string; href: string } | null;
  closing: string[];
  /** Regards, the school's name and its contact data. */
  sender: string[];
  /** Lines of the school at the end, empty ones among them. */
  footer: string[];
};

/** The letters to the participant, to the one before (`swapped_out`, `moved_away`), and to the booker. */
export type PlaceLetter =
  | ('receipt' | 'deregistration' | 'offer' | 'promotion' | 'swap' | 'swapped_out' | 'move' | 'moved_away' | 'reminder')
  | ('date_canceled' | 'date_changed')
  | ('booking_link' | 'booking_receipt' | 'reminder_of_booking' | 'move_of_booking');

/** What differs between a changed date and its former values. */
export type ScheduleChange = 'time' | 'place' | 'link';
