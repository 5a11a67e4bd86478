/** The usual schedule of a course. */
export type Format = {
  /** Days of the sessions, from 0 for the first. */
  meetings: number[];
  from: string;
  to: string;
  /** Refs of the location and the instructors. */
  location: string;
  instructors: string[];
};

const format = (meetings: number[], from: string, to: string, location: string, ...instructors: string[]): Format => ({
  meetings,
  from,
  to,
  location,
  instructors,
});

const inARow = (days: number) => Array.from({ length: days }, (_, day) => day);
const weekly = (weeks: number) => Array.from({ length: weeks }, (_, week) => 7 * week);

/** By course reference. Self-paced courses have no dates, so they are missing. */
export const formats = new Map<string, Format>([
  ['HMS-101', format([0], '08:30', '15:00', 'nordnes', 'ingrid')],
  ['HMS-110', format([0], '08:30', '15:30', 'nordnes', 'bente')],
  ['HMS-204', format(inARow(4), '08:00', '15:30', 'nyborg', 'jonas')],
  ['HMS-212', format(inARow(5), '08:00', '15:30', 'nyborg', 'jonas')],
  ['HMS-130', format([0], '08:30', '15:30', 'nyborg', 'ingrid', 'jonas')],
  ['HMS-140', format(inARow(4), '08:30', '16:00', 'auditoriet', 'bente')],
  ['HMS-204-PL', format([0, 1, 7, 8], '09:00', '16:00', 'nyborg', 'agnieszka')],
  ['BED-3301', format([0], '07:30', '15:00', 'kunden', 'jonas')],
  ['LED-301', format(weekly(6), '17:00', '20:00', 'nordnes', 'rune')],
  ['KVA-120', format(inARow(2), '09:00', '16:00', 'nordnes', 'rune')],
  ['KVA-220', format(inARow(5), '09:00', '16:30', 'nett', 'thomas')],
  ['LED-110', format([0, 1, 42], '09:00', '16:00', 'nordnes', 'rune', 'bente')],
  ['JUS-105', format(inARow(2), '09:00', '15:30', 'nordnes', 'bente')],
  ['KOM-150', format(inARow(2), '09:00', '15:30', 'nordnes', 'thomas')],
  ['ARR-26-02', format([0], '08:00', '09:30', 'auditoriet', 'rune')],
  ['BED-3312', format([0, 28, 56, 84, 112, 140], '10:00', '16:00', 'kunden', 'rune', 'thomas')],
  ['KON-101', format([0], '09:00', '15:30', 'nordnes', 'layla')],
  ['KON-201', format(inARow(2), '09:00', '14:30', 'nett', 'layla')],
  ['OKO-230', format(inARow(2), '09:00', '15:00', 'nett', 'bente')],
  ['JUS-120', format([0], '09:00', '13:00', 'nett', 'bente')],
  ['OKO-140', format(inARow(3), '09:00', '14:00', 'nett', 'bente')],
  ['IT-310', format(inARow(3), '09:00', '15:30', 'nett', 'emil.vagenes')],
  ['IT-220', format(inARow(2), '09:00', '16:00', 'nordnes', 'layla', 'emil.vagenes')],
  ['IT-305', format([0], '17:30', '20:30', 'nett', 'emil.vagenes')],
  ['INT-014', format([0], '12:00', '15:00', 'nordnes', 'solveig.haugland')],
  ['SPR-A1', format(weekly(10), '17:30', '20:00', 'nordnes', 'kari')],
  ['SPR-B12', format(weekly(12), '18:00', '20:30', 'nordnes', 'kari')],
  ['SPR-ES2', format(weekly(8), '18:00', '19:30', 'nordnes', 'carmen')],
  ['INT-001', format(inARow(2), '09:00', '15:00', 'auditoriet', 'solveig.haugland')],
  ['FRI-140-S', format(inARow(4), '10:00', '15:00', 'mohlenpris', 'astrid')],
  ['FRI-210', format(inARow(3), '09:30', '18:00', 'fjordgarden', 'astrid')],
  ['MAT-115', format([0], '10:00', '15:00', 'kjokkenet', 'henrik')],
  ['MAT-205', format(weekly(4), '18:30', '21:00', 'kjokkenet', 'henrik')],
  ['FRI-301', format(inARow(2), '09:00', '17:00', 'nordnes', 'sunniva')],
  ['HEL-108', format(weekly(8), '19:00', '20:30', 'nordnes', 'kari')],
]);
