import type { Seats } from '../seats/schema.ts';

export type ProductFound = {
  id: number;
  courseId: number;
  price: string;
  currency: string;
  vatPercentage: string;
};

/** A course date that can be booked, or a child of it that a trigger value leads to. */
export type DateFound = Seats & {
  id: number;
  courseId: number;
  courseTitle: string;
  courseCurrency: string;
  triggerValue: string | null;
  startAt: string;
  endAt: string;
  place: string | null;
  isCanceled: boolean;
  /** After the deadline's day in the date's zone, or after the end. */
  isPassed: boolean;
  /** The course's, unless it is archived. */
  mainProduct: ProductFound | null;
};

/** One that its code names, or an agreement of the customer's. */
export type CampaignFound = {
  id: number;
  isNamed: boolean;
  isRunning: boolean;
  isExpired: boolean;
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

/** Everything that a booking names, as far as it is there. */
export type BookingFound = {
  dates: DateFound[];
  /** Those that participants name. */
  products: ProductFound[];
  campaigns: CampaignFound[];
  voucher: VoucherFound | null;
  customer: CustomerFound | null;
};

/** What of a request the terms of a booking depend on, as far as it was sent. */
export type Asked = {
  coursedate_id?: number | undefined;
  currency?: string | undefined;
  campaign_code?: string | undefined;
  voucher_code?: string | undefined;
  customer_id?: number | undefined;
  participants?: AskedParticipant[] | undefined;
  config?: AskedConfig | undefined;
};
export type AskedParticipant = {
  status_id?: 1 | 3 | 7 | undefined;
  products?: number[] | undefined;
  trigger_value?: string | undefined;
};
type AskedConfig = {
  reject_cancelled_course_date?: boolean | undefined;
  reject_passed_deadline?: boolean | undefined;
  seats_availability_check?: boolean | undefined;
  waiting_list_when_full?: boolean | undefined;
};
