import type { MailSwitches } from '../../../core/reference/mail-kinds.ts';
import type { Seats } from '../../courses/seats/schema.ts';
import type { PricedDate, ProductFound } from '../../orders/orders/price-schema.ts';

/** A bookable course date, or one of its children. */
export type DateFound = Seats &
  PricedDate & {
    id: number;
    courseCurrency: string;
    triggerValue: string | null;
    isCanceled: boolean;
    /** True after the deadline's day in the date's zone, or after the end. */
    isPassed: boolean;
    /** True if an offer has ended that still holds its seat. */
    hasDueOffers: boolean;
    mailSwitches: MailSwitches | null;
  };

/** A campaign by its code (`isNamed`), or an agreement with the customer. */
export type CampaignFound = {
  id: number;
  isNamed: boolean;
  isOpen: boolean;
  isExpired: boolean;
  isUsedUp: boolean;
  /** Uses that are left; null without a limit. */
  usesLeft: number | null;
  forCourse: boolean;
  forCustomer: boolean;
  currency: string;
  type: 'Percent' | 'Value';
  value: string;
};
export type VoucherFound = {
  id: number;
  code: string;
  currency: string;
  balance: string;
  isArchived: boolean;
  isExpired: boolean;
};
export type CustomerFound = { id: number; sellerId: number | null; isActive: boolean };

/** The stored items that a booking refers to. */
export type BookingContext = {
  dates: DateFound[];
  products: ProductFound[];
  campaigns: CampaignFound[];
  voucher: VoucherFound | null;
  customer: CustomerFound | null;
};

/** The fields of a booking request that its quote depends on; any may be missing. */
export type QuoteRequest = {
  coursedate_id?: number | undefined;
  currency?: string | undefined;
  campaign_code?: string | undefined;
  voucher_code?: string | undefined;
  customer_id?: number | undefined;
  waiting_together?: boolean | undefined;
  participants?: QuoteParticipant[] | undefined;
  /** Places of a group without names, instead of participants. */
  places?: number | undefined;
  config?: QuoteConfig | undefined;
};
export type QuoteParticipant = {
  status_id?: 1 | 3 | 7 | undefined;
  products?: number[] | undefined;
  trigger_value?: string | undefined;
};
type QuoteConfig = {
  reject_cancelled_course_date?: boolean | undefined;
  reject_passed_deadline?: boolean | undefined;
  seats_availability_check?: boolean | undefined;
  waiting_list_when_full?: boolean | undefined;
};
