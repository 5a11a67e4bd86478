import { plusDays, type Calendar } from './calendar.ts';
import type { Line } from './lines.ts';
import type { DemoCourse } from './types.ts';

/** Two future one-day dates per course, without a location, since partners have none. */
export const partnerDateLines = ({ weekday }: Calendar, courses: DemoCourse[]): Line[] =>
  courses.flatMap(({ title, reference = title }, place) =>
    [3 + place, 10 + place].map((week) => {
      const start = weekday(week, 1 + (place % 5));
      return {
        kind: 'coursedate',
        ref: `${reference}/${week}`,
        course_id: reference,
        start_at: start,
        end_at: start,
        deadline_at: plusDays(start, -7),
        start_time_at: '09:00',
        end_time_at: '15:00',
        place_additional_info: 'I skolens lokaler',
        capacity_max: 12,
        status_id: 2,
      };
    }),
  );
