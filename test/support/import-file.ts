import { recordTypes } from '../../src/plugins/transfer/record-types/index.ts';
import { isBulk, type Part, type RecordType } from '../../src/plugins/transfer/record-type.ts';
import { sampleValue, type FieldSchema } from './sample-values.ts';

type Line = Record<string, unknown>;
type Declared = {
  fields: Record<string, { schema: FieldSchema; to?: string | undefined }>;
  parts?: Record<string, Part>;
};

const declaredBy = (kind: RecordType): Declared =>
  isBulk(kind)
    ? kind
    : {
        fields: Object.fromEntries(
          Object.entries(kind.schema.properties).map(([name, schema]) => [
            name,
            { schema, to: kind.references?.[name] },
          ]),
        ),
      };

/** Adds each field that none of the objects has to the first of them; those of references and hashes are not added. */
function fill(objects: Line[], { fields, parts = {} }: Declared) {
  for (const [name, { schema, to }] of Object.entries(fields)) {
    if (to !== undefined || name === 'password_hash' || objects.some((one) => name in one)) continue;
    if (objects[0]) objects[0][name] = sampleValue(name, schema);
  }
  for (const [member, part] of Object.entries(parts)) {
    if (part.form === 'links') continue;
    const below = objects.flatMap(({ [member]: value = [] }) =>
      part.form === 'by-key' ? Object.values(value as object) : [value].flat(),
    ) as Line[];
    fill(below, part.item);
  }
}

/** Import lines with every record type and every field. */
export function schoolFile(partnerId: number) {
  const lines = schoolLines(partnerId);
  for (const kind of recordTypes)
    fill(
      lines.filter((line) => line['kind'] === kind.kind),
      declaredBy(kind),
    );
  return lines;
}

const at = (from: string, to: string) => ({ gathering_at: from, gathering_end_at: to });
const date = (ref: string, start_at: string, end_at: string) => ({ kind: 'coursedate', ref, start_at, end_at });
const participant = (ref: string, idBooking: string, coursedate_id: string, user_id: string, idStatus: number) => ({
  ...{ kind: 'participant', ref, idBooking, coursedate_id, user_id, idStatus },
});
const priced = (amount: string | number) => ({ price_at_order_per_item_vat_excluded: amount });
const offer = { held_for: 'offer', held_until: '2030-06-01 12:00', lapsed_offers: 1 };

/** References, and what no schema says. */
const schoolLines = (partnerId: number): Line[] => [
  { kind: 'school', ref: 'school', active: true },
  { kind: 'booking_settings', ref: 'settings' },
  { kind: 'catalog_settings', ref: 'catalog', enabled: false },
  { kind: 'place', ref: 'vestland', title: 'Vestland', country: 'NO' },
  { kind: 'place', ref: 'bergen', title: 'Bergen', country: 'NO', parent_id: 'vestland' },
  { kind: 'place', ref: 'lone', title: 'Import Island', country: 'SE' },
  { kind: 'category', ref: 'craft', title: 'Import craft', slug: 'import-craft' },
  { kind: 'category', ref: 'knit', title: 'Import knitting', slug: 'import-knitting', parent_id: 'craft' },
  { kind: 'tag', ref: 'weekend', title: 'Weekend' },
  { kind: 'tag', ref: 'evening', title: 'Evening' },
  { kind: 'label', ref: 'new' },
  { kind: 'role', ref: 'admin', title: 'administrator' },
  { kind: 'role', ref: 'seller', title: 'Seller', description: 'Sells' },
  {
    ...{ kind: 'admin_user', ref: 'kari', email: `kari-${partnerId}@moved.example` },
    ...{ firstname: 'Kari', lastname: 'Nordmann', role_ids: ['admin', 'seller'] },
  },
  {
    ...{ kind: 'admin_user', ref: 'left', email: `left-${partnerId}@moved.example`, detached: true },
    ...{ firstname: 'Lise', lastname: 'Berg', role_ids: [] },
  },
  { kind: 'instructor', ref: 'ola', firstname: 'Ola', lastname: 'Lærer', idUser: 'kari' },
  { kind: 'instructor', ref: 'old', firstname: 'Gamle', lastname: 'Erik', archived_at: '2026-01-02 03:04:05' },
  {
    ...{ kind: 'location', ref: 'hall', place_id: 'bergen', idInstructor: 'ola', notification_role: 'seller' },
    ...{ timezone: 'Europe/Stockholm', capacity_max: 4, capacity_min: 2, capacity_overbook: 1, capacity_wait: 3 },
  },
  { kind: 'location', ref: 'web', title: 'Online', is_virtual: true, is_archived: true },
  { kind: 'customer', ref: 'group', title: 'Fjord Group', type: 1, status: 1, seller_id: 'kari' },
  { kind: 'customer', ref: 'daughter', title: 'Fjord Daughter', idParentCustomer: 'group', status: 2 },
  {
    ...{ kind: 'user', ref: 'per', username: 'per', password: 'correct horse battery', lastname: 'Hansen' },
    ...{ email: 'per@moved.example', customer_id: 'group' },
  },
  { kind: 'user', ref: 'siv', email: 'siv@moved.example', firstname: 'Siv', lastname: 'Å' },
  { kind: 'user', ref: 'unnamed', is_placeholder: true },
  {
    ...{ kind: 'course', ref: 'knitting', title: 'Knitting for all', active: true, teaching_language: 'en' },
    ...{
      price_value: 1500,
      price_currency: 'EUR',
      tags: ['weekend', 'evening'],
      labels: ['new'],
      categories: ['knit'],
    },
    translations: { no: { lead: 'Ingress', description: '<p>Beskrivelse</p>' }, 'sv-SE': {} },
    products: [
      { ref: 'knit-main', title: 'Knitting for all', price: 1500, currency: 'EUR', is_main_product: true },
      {
        ...{ ref: 'knit-lunch', title: 'Lunch', price: '99.50', currency: 'EUR', vat_percentage: 15 },
        ...{ account_number: '3010', cost_unit: 'Kitchen', id_external_system: 'X-7' },
      },
      { ref: 'knit-gone', title: 'Gone', price: 1, archived_at: '2026-01-01' },
    ],
  },
  {
    ...{ kind: 'course', ref: 'inhouse', title: 'In-house', type: 'corporate', customer_id: 'group' },
    publishing_platform: 'own',
  },
  { kind: 'course', ref: 'gone', title: 'Knitting for all', deleted_at: '2026-03-29 12:00:00' },
  { kind: 'bundle', ref: 'pair' },
  {
    ...{
      ...date('june', '2030-06-10', '2030-06-11'),
      course_id: 'knitting',
      bundle_id: 'pair',
      deadline_at: '2030-06-01',
    },
    ...{ location_id: 'hall', place_id: 'bergen', timezone: 'America/New_York', instructors: ['ola', 'old'] },
    ...{ start_time_at: '09:00', end_time_at: '15:30', status_id: 2, is_visible: true, teaching_language: 'no' },
    gatherings: [
      {
        ...{ ref: 'june-1', ...at('2030-06-10 09:00', '2030-06-10 15:30'), idLocation: 'hall', instructors: ['ola'] },
      },
      at('2030-06-11 09:00', '2030-06-11 15:30'),
      { ref: 'june-old', ...at('2030-06-12 09:00', '2030-06-12 15:30'), deleted_at: '2026-06-01' },
    ],
  },
  {
    ...{ ...date('june-child', '2030-06-10', '2030-06-10'), course_id: 'knitting', parent_id: 'june' },
    ...{ trigger_value: 'beginner', capacity_max: 5, capacity_min: 1, capacity_overbook: 2, capacity_wait: 2 },
  },
  { ...date('past', '2026-03-28', '2026-03-29'), course_id: 'inhouse', bundle_id: 'pair' },
  {
    ...{ ...date('gone-date', '2026-01-01', '2026-01-02'), course_id: 'knitting', status_id: 3 },
    deleted_at: '2026-01-03 12:00',
  },
  {
    ...{ kind: 'campaign', ref: 'summer', title: 'Summer', campaign_code: 'SUN', currency: 'eur' },
    ...{ starts_at: '2026-06-01', ends_at: '2026-09-01 12:00:00', discount_type: 'Value', discount_value: '12.50' },
    ...{ courses: ['knitting'], customers: ['group'], tags: ['weekend'] },
  },
  { kind: 'campaign', ref: 'agreed', type: 'Agreement', active: false, discount_type: 'Percent', discount_value: 10 },
  {
    ...{ kind: 'campaign', ref: 'filed', campaign_code: 'sun', is_archived: true },
    ...{ discount_type: 'Percent', discount_value: 5 },
  },
  {
    ...{ kind: 'voucher', ref: 'gift', code: 'GIFT-1', amount: 500, balance: '120.25', currency: 'nok' },
    archived_at: '2026-02-02',
  },
  { kind: 'voucher', ref: 'gift-2', code: 'gift-1', amount: 10, deleted_at: '2026-02-03' },
  {
    ...{ kind: 'order', ref: 'first', title: 'Knitting for all', customer_id: 'group', idCampaign: 'summer' },
    ...{ seller_id: 'kari', currency: 'EUR', exported_at: '2026-10-25 02:30:00+01:00' },
    booking: { ref: 'b1', coursedate_id: 'june', language: 'en' },
    lines: [
      {
        ...{ ref: 'first-1', product_id: 'knit-main', quantity: 2, vat_percentage: 25, ...priced('1500') },
        ...{ discount_percent_at_order: 0, discount_amount_at_order: '12.50', discount_calculated_at_order: '25' },
      },
      { ref: 'first-2', product_id: 'knit-lunch', quantity: 1, vat_percentage: '15', ...priced(99.5) },
    ],
    redemptions: [{ voucher_id: 'gift', amount: '300.50' }],
    payments: [
      { amount: '3532.68', method: 'card', paid_at: '2026-07-02 12:00' },
      { amount: 3532.68, paid_at: '2026-07-04 12:00' },
    ],
  },
  {
    ...{ kind: 'order', ref: 'second', title: 'In-house', booking: { ref: 'b2', coursedate_id: 'past' } },
    lines: [{ product_id: 'inhouse/products/1', quantity: 1, ...priced(0) }],
    redemptions: [{ voucher_id: 'gift', amount: 50 }],
  },
  { kind: 'order', ref: 'bare', title: 'Without a booking' },
  {
    ...{ kind: 'order', ref: 'credit', title: 'Knitting for all', currency: 'EUR', first_order_id: 'first' },
    ...{ order_kind: 'credit', credit_applied: 0, credit_reason: 'Ill' },
    lines: [
      {
        ...{ ref: 'credit-1', product_id: 'knit-main', credits_line_id: 'first-1', quantity: -1, vat_percentage: 25 },
        ...{ ...priced('1500'), discount_calculated_at_order: '-12.5', vat_rounding: '0.01' },
      },
    ],
    redemptions: [{ voucher_id: 'gift', amount: '-300.50' }],
    payments: [{ amount: '-100', paid_at: '2026-07-05 12:00' }],
  },
  {
    ...{ ...participant('p1', 'b1', 'june', 'per', 1), status_updated_at: '2026-07-01 12:00:00', idPaid: 1 },
    ...{ completed_by_hand: false, order_lines: ['first-1', 'first-2'] },
    credits: [{ order_line_id: 'credit-1', amount: '-1487.5' }],
    attendance: [{ gathering_id: 'june-1', minutes: 90 }, { gathering_id: 'june/gatherings/2' }],
    attendance_marks: [
      { gathering_id: 'june-1', attended: true, minutes: 90, marked_at: '2030-06-10 09:05', nonce: 'tablet-2' },
      { gathering_id: 'june-1', attended: false, marked_at: '2030-06-10 09:01', nonce: 'tablet-1' },
    ],
  },
  participant('p2', 'b1', 'june-child', 'siv', 3),
  participant('p3', 'b2', 'past', 'siv', 8),
  { ...participant('p4', 'b1', 'june', 'siv', 7), ...offer },
  { ...participant('p5', 'b1', 'june', 'unnamed', 2), held_for: 'name' },
  { kind: 'partner', ref: 'partner', partner_id: partnerId, status: 'approved' },
];
