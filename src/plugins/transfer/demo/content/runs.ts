import type { Fields } from '../../record-type.ts';
import type { Calendar } from './calendar.ts';
import type { Format } from './formats.ts';

/** A scheduled run of a course, with its orders. */
export type Run = {
  ref: string;
  /** Reference of the course. */
  course: string;
  /** First day. */
  start: string;
  /** One word per order, one letter per participant: s seat, u unconfirmed, n no-show, d deregistered, f with a fee. */
  orders: string;
  /** Exceptions from the course's usual format. */
  unusual: Partial<Format>;
  /** Additional fields of the course date's line. */
  fields: Fields;
};

type More = Partial<Format> & { fields?: Fields };

/** All runs, from half a year ago to half a year ahead, with 120 orders for 300 participants. */
export const runsOn = (calendar: Calendar): Run[] => [
  ...pastRuns(calendar),
  ...currentRuns(calendar),
  ...upcomingRuns(calendar),
  ...groupedRuns(calendar),
];

function onDay(ref: string, course: string, start: string, orders: string, more: More = {}): Run {
  const { fields = {}, ...unusual } = more;
  return { ref, course, start, orders, unusual, fields };
}

/** Returns a function for a run `week` weeks from now, on a weekday from 1 for Monday. */
const runIn =
  ({ weekday }: Calendar) =>
  (course: string, week: number, day: number, orders = '', more?: More) =>
    onDay(`${course}/${week}`, course, weekday(week, day), orders, more);

function pastRuns(calendar: Calendar): Run[] {
  const run = runIn(calendar);
  return [
    run('LED-110', -25, 2, 'ss sss', { fields: { deadline_at: calendar.weekday(-26, 5) } }),
    run('HMS-101', -23, 2, 's ssss'),
    run('OKO-140', -22, 1, 'sss'),
    run('HMS-110', -21, 1, 'sss'),
    run('KON-101', -20, 1, 's sssss'),
    run('FRI-301', -20, 6, 's ss', { instructors: ['torbjorn'] }),
    run('HMS-204', -19, 1, 'ssss'),
    run('SPR-ES2', -19, 4, 's n ss'),
    run('KVA-120', -18, 2, 'ssss'),
    run('HMS-130', -17, 5, 'ssssss'),
    run('FRI-140-S', -17, 1, 'ss'),
    run('OKO-230', -16, 2, 'ss'),
    run('HMS-101', -15, 3, 's sss n'),
    run('KOM-150', -14, 2, 'ssss'),
    run('MAT-115', -14, 6, 's ss s'),
    run('HMS-140', -13, 1, 'sssss'),
    run('FRI-210', -13, 5, 's ss'),
    run('IT-310', -12, 2, 'ssss'),
    run('JUS-105', -12, 3, 'ssd'),
    run('HMS-204-PL', -11, 6, 'ssss'),
    run('INT-001', -11, 1),
    run('KON-201', -10, 2, 'sss'),
    run('HMS-110', -9, 4, 'ssss'),
    run('JUS-120', -9, 5, 'ssss'),
    run('ARR-26-02', -8, 4, 'ss sss n'),
    run('MAT-205', -8, 4, 'sss'),
    run('HMS-204', -7, 1, 'sss f'),
    run('HMS-101', -6, 2, 'ssd'),
    run('BED-3301', -5, 3, 'ssssss', { fields: { place_additional_info: 'Byggeplassen på Danmarksplass, port 3' } }),
    run('IT-220', -5, 2, 'sss'),
    run('HMS-130', -4, 5, 'sss'),
    run('KON-101', -4, 3, '', { fields: { deleted_at: calendar.weekday(-6, 3), internal_note: 'Slått sammen' } }),
    run('KON-101', -3, 2, 'sss'),
    run('IT-305', -2, 3, 'ssn'),
    run('MAT-115', -1, 6, 'ss s'),
  ];
}

/** Runs in progress. */
function currentRuns(calendar: Calendar): Run[] {
  const run = runIn(calendar);
  return [
    run('BED-3312', -9, 1, 'sssssss'),
    run('SPR-B12', -6, 4, 'ss'),
    run('LED-301', -4, 3, 'ss'),
    run('SPR-A1', -3, 2, 's s'),
    run('HEL-108', -2, 1, 's ss'),
  ];
}

function upcomingRuns(calendar: Calendar): Run[] {
  const run = runIn(calendar);
  const { clockChange } = calendar;
  return [
    run('FRI-301', 1, 6, 's ss s ss ss', { fields: { capacity_max: 6, capacity_wait: 2 } }),
    run('HMS-101', 1, 4, 'ssss ss sss ssu', { fields: { capacity_wait: 0 } }),
    // The next one is open for booking.
    run('KON-101', 1, 1, 'ssss', { fields: { deadline_at: calendar.weekday(0, 7) } }),
    run('MAT-115', 2, 6, 's ss s ss s ss ss ss'),
    run('HMS-110', 2, 1, 'ssssd'),
    run('HMS-130', 2, 5, 'ssssuf'),
    run('IT-305', 2, 3, 'ssd'),
    run('HMS-204', 3, 1, 'ssss ss sss'),
    run('KON-201', 3, 2, 'ssss'),
    run('ARR-26-02', 3, 4, 'ssssu s'),
    run('LED-110', 3, 2, 'sss', { fields: { bundle_id: 'lederpakken' } }),
    run('HMS-212', 4, 1, 'sss'),
    run('KVA-120', 4, 2, 'ddd', { fields: { status_id: 3, internal_note: 'For få påmeldte, alle har fått beskjed' } }),
    run('JUS-120', 4, 5, 'sssss'),
    run('SPR-ES2', 4, 4, 's u'),
    run('OKO-230', 5, 2, 'sss', { fields: { status_id: 4, internal_note: 'Kursholderen er syk, ny dato kommer' } }),
    run('HMS-101', 5, 2, 'sssu'),
    run('IT-220', 5, 2, 'sss'),
    run('MAT-205', 5, 4, 'ss'),
    run('FRI-210', 6, 5, 's ss s ss ss ss ss s'),
    run('IT-310', 6, 1, 'ssu', {
      instructors: ['thomas'],
      fields: { timezone: 'America/New_York', title: 'TypeScript live from New York' },
    }),
    run('SPR-B12', 7, 4, 's'),
    run('KOM-150', 7, 2, 'ssss'),
    run('HMS-204-PL', 7, 6, 'ssssu', { fields: { custom_properties: { tolk: 'ukrainsk' } } }),
    run('HMS-110', 8, 4, 'sss', { fields: { bundle_id: 'lederpakken' } }),
    run('HEL-108', 9, 1, 's', { fields: { is_visible: false, reference: 'Lukket gruppe' } }),
    run('HMS-140', 9, 1, 'ssss'),
    run('MAT-115', 9, 6, 'ss'),
    run('INT-014', 10, 4),
    run('KVA-220', 11, 1, 'sss', { fields: { visible_when_passed_deadline: false } }),
    run('HMS-204', 12, 1, 'ssu'),
    run('JUS-105', 13, 3, 'ss', { fields: { bundle_id: 'lederpakken' } }),
    run('SPR-A1', 14, 2, 's'),
    run('LED-301', 16, 3),
    run('FRI-210', 19, 5, 's'),
    // No location yet.
    run('FRI-301', 21, 6, '', { fields: { location_id: undefined, place_id: undefined, capacity_max: 10 } }),
    run('KON-101', 24, 1, '', { fields: { external_booking_url: 'https://samarbeid.example/excel-grunnkurs' } }),
    onDay('natt', 'FRI-210', clockChange.day, 's ss', {
      meetings: [0],
      from: '00:30',
      to: '04:30',
      fields: { title: clockChange.isSpring ? 'Nattfoto: timen som ble borte' : 'Nattfoto: timen som kom to ganger' },
    }),
  ];
}

/** A day in two groups, chosen by the participant's trigger value. */
function groupedRuns(calendar: Calendar): Run[] {
  const day = calendar.weekday(15, 2);
  const group = (trigger: string, from: string, to: string, orders: string) =>
    onDay(`redningsdagen/${trigger}`, 'HMS-101', day, orders, {
      ...{ from, to },
      fields: { parent_id: 'redningsdagen', trigger_value: trigger, capacity_max: 6, capacity_wait: 2 },
    });
  return [
    onDay('redningsdagen', 'HMS-101', day, '', { fields: { title: 'Redningsdagen: førstehjelp i to grupper' } }),
    group('formiddag', '08:30', '11:30', 'ss ssss s'),
    group('ettermiddag', '12:00', '15:00', 's ss'),
  ];
}
