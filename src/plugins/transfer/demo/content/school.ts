import { createBookings } from './bookings.ts';
import type { Calendar } from './calendar.ts';
import { campaignLines } from './campaigns.ts';
import { categoryLines, courseLines } from './course-lines.ts';
import { demoCourses } from './courses.ts';
import { customerLines } from './customers.ts';
import { dateLines } from './dates.ts';
import { lines, type Line } from './lines.ts';
import { locationLines } from './locations.ts';
import { orderLines } from './orders.ts';
import { participantLines } from './participants.ts';
import { userLines } from './people.ts';
import { runsOn } from './runs.ts';
import { staffLines } from './staff.ts';

const settingLines = [
  /** Participants cancel until the days of the location before the start, and then with a fee. */
  ...lines('booking_settings', [{ ref: 'regler', self_cancellation: true, late_cancellation: 'fee' }]),
  ...lines('catalog_settings', [{ ref: 'katalog', enabled: true }]),
];

/** The demo school as import lines; deterministic for a given day. */
export function demoSchoolLines(calendar: Calendar): Line[] {
  const runs = runsOn(calendar);
  const bookings = createBookings(calendar, runs);
  return [
    ...settingLines,
    ...categoryLines,
    ...staffLines(calendar),
    ...locationLines,
    ...customerLines,
    ...userLines,
    ...courseLines(demoCourses),
    ...dateLines(calendar, runs),
    ...campaignLines(calendar),
    ...orderLines(calendar, bookings),
    ...participantLines(calendar, bookings),
  ];
}
