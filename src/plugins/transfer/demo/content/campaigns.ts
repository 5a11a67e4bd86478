import { toDecimal, toMinorUnits, applyPercentage } from '../../../../core/money.ts';
import type { Fields } from '../../record-type.ts';
import { plusDays, type Calendar } from './calendar.ts';
import { lines, type Line } from './lines.ts';

/** A campaign; start and end are in days from the day of loading. */
type Campaign = {
  ref: string;
  title: string;
  discount: { type: 'Percent' | 'Value'; value: string };
  starts?: number;
  ends?: number;
  maxUses?: number;
  code?: string;
  courses?: string[];
  /** Customer of an agreement. */
  customer?: string;
  tags?: string[];
  /** Minimum number of participants. */
  people?: number;
  /** Never applies. */
  withdrawn?: Fields;
};

const campaigns: Campaign[] = [
  {
    ref: 'rammeavtale',
    title: 'Rammeavtale Vestbygg',
    discount: { type: 'Percent', value: '12.50' },
    ...{ starts: -420, ends: 310, customer: 'vestbygg' },
  },
  {
    ref: 'kveldskaffe',
    title: 'Kveldskaffe: kurs etter jobb',
    discount: { type: 'Percent', value: '15' },
    ...{ starts: -30, ends: 60, code: 'KVELDSKAFFE', maxUses: 100 },
    courses: ['MAT-115', 'MAT-205', 'FRI-210', 'FRI-301', 'SPR-ES2'],
  },
  {
    ref: 'kollega',
    title: 'Ta med en kollega',
    discount: { type: 'Value', value: '250' },
    ...{ starts: -90, people: 2, courses: ['HMS-101', 'HMS-110', 'HMS-130', 'KON-101', 'KON-201', 'JUS-120'] },
  },
  {
    ref: 'neste',
    title: 'Velkommen til neste sesong',
    discount: { type: 'Percent', value: '20' },
    ...{ starts: 30, ends: 75, code: 'VELKOMMEN', tags: ['Nybegynner'] },
  },
  {
    ref: 'jubileum',
    title: 'Jubileumsuka',
    discount: { type: 'Value', value: '500' },
    ...{ starts: 14, ends: 21 },
  },
  {
    ref: 'tidlig',
    title: 'Tidlig ute',
    discount: { type: 'Percent', value: '10' },
    ...{ starts: -240, ends: -92, code: 'TIDLIG', courses: ['HMS-101', 'HMS-204', 'KON-101', 'KVA-120', 'KOM-150'] },
  },
  {
    ref: 'nettstart',
    title: 'Kom i gang på nett',
    discount: { type: 'Value', value: '400' },
    ...{ starts: -200, ends: -91, courses: ['OKO-140', 'OKO-230', 'IT-310'] },
  },
  {
    ref: 'messe',
    title: 'Messetilbud',
    discount: { type: 'Percent', value: '30' },
    ...{ starts: -10, ends: 10, code: 'MESSE', courses: ['IT-220', 'KOM-150', 'HMS-140', 'HMS-204', 'HMS-212'] },
    withdrawn: { is_archived: true },
  },
  {
    ref: 'student',
    title: 'Studentrabatt (til vurdering)',
    discount: { type: 'Percent', value: '25' },
    ...{ code: 'STUDENT', withdrawn: { active: false } },
  },
];

/** Campaigns in every status, and vouchers. */
export const campaignLines = ({ today }: Calendar): Line[] => [
  ...campaigns.map(({ ref, title, discount, starts, ends, maxUses, code, courses, customer, tags, withdrawn }) => ({
    kind: 'campaign',
    ref,
    title,
    type: customer === undefined ? 'Campaign' : 'Agreement',
    campaign_code: code,
    starts_at: starts === undefined ? undefined : plusDays(today, starts),
    ends_at: ends === undefined ? undefined : plusDays(today, ends),
    max_uses: maxUses,
    discount_type: discount.type,
    discount_value: discount.value,
    courses,
    customers: customer === undefined ? undefined : [customer],
    tags,
    ...withdrawn,
  })),
  ...lines('voucher', [
    { ref: 'ny', code: 'GAVE-FJORD-2408', amount: '2000', expires_at: plusDays(today, 365) },
    { ref: 'brukt-litt', code: 'GAVE-FJORD-1177', amount: '3000', balance: '1410', expires_at: plusDays(today, 120) },
    { ref: 'brukt-opp', code: 'GAVE-FJORD-0932', amount: '1500', balance: '0' },
    { ref: 'gammel', code: 'GAVE-FJORD-0518', amount: '1000', expires_at: plusDays(today, -40) },
    { ref: 'arkivert', code: 'GAVE-FJORD-0303', amount: '500', archived_at: plusDays(today, -200) },
  ]),
];

/** Input for the choice of a campaign; `isAware` if the customer knows of campaigns. */
type Purchase = {
  course: string;
  customer: string | undefined;
  people: number;
  orderedOn: string;
  today: string;
  isAware: boolean;
};

/** The campaign of an order; the customer's agreement comes first. */
export const getCampaign = ({ course, customer, people, orderedOn, today, isAware }: Purchase) =>
  campaigns.find(({ withdrawn, starts = 0, ends = Infinity, ...campaign }) => {
    const isRunning = plusDays(today, starts) <= orderedOn && (ends === Infinity || orderedOn < plusDays(today, ends));
    if (withdrawn !== undefined || !isRunning) return false;
    if (campaign.customer !== undefined) return campaign.customer === customer;
    return isAware && people >= (campaign.people ?? 1) && (campaign.courses ?? []).includes(course);
  });

/** Discount fields of an order line. */
export function getDiscount(campaign: Campaign | undefined, price: string, quantity: number) {
  const { type, value } = campaign?.discount ?? { type: 'Percent', value: '0' };
  const [items, each] = [BigInt(quantity), toMinorUnits(price)];
  if (type === 'Percent') {
    return { percent: value, amount: '0', calculated: toDecimal(applyPercentage(items * each, value)) };
  }
  const off = toMinorUnits(value) < each ? toMinorUnits(value) : each;
  return { percent: '0', amount: value, calculated: toDecimal(items * off) };
}
