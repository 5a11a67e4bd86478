import { toSlug } from '../../../../core/catalog-urls.ts';
import type { Fields } from '../../record-type.ts';
import { plusDays, type Calendar } from './calendar.ts';
import { formats, type Format } from './formats.ts';
import { lines, type Line } from './lines.ts';
import { locationLines } from './locations.ts';
import type { Run } from './runs.ts';

/** The course's usual format with the run's exceptions. */
export const toFormat = ({ course, unusual }: Run): Format => ({ ...formats.get(course)!, ...unusual });

export const toEndDate = (run: Run) => plusDays(run.start, toFormat(run).meetings.at(-1)!);

export const toLocation = (run: Run) => {
  const { location } = toFormat(run);
  return locationLines.find(({ kind, ref }) => kind === 'location' && ref === location)!;
};

/** Refs and dates of a run's sessions. */
export const toMeetings = (run: Run) =>
  toFormat(run).meetings.map((days, n) => ({ ref: `${run.ref}/${n + 1}`, day: plusDays(run.start, days) }));

/** Course dates with their sessions. */
export const dateLines = (calendar: Calendar, runs: Run[]): Line[] => [
  ...lines('bundle', [{ ref: 'lederpakken', title: 'Lederpakken: tre kurs på et halvår' }]),
  ...runs.map((run) => dateLine(calendar, run)),
];

function dateLine({ today, weekday }: Calendar, run: Run): Line {
  const { from, to, location, instructors } = toFormat(run);
  const isDecided = run.start <= today || (run.orders !== '' && run.start < weekday(9, 1));
  const isVirtual = toLocation(run)['is_virtual'] === true;
  return {
    kind: 'coursedate',
    ref: run.ref,
    course_id: run.course,
    start_at: run.start,
    end_at: toEndDate(run),
    deadline_at: plusDays(run.start, -7),
    start_time_at: from,
    end_time_at: to,
    location_id: location,
    place_id: toLocation(run)['place_id'],
    is_virtual: isVirtual,
    event_url: isVirtual ? meetingUrl(run) : undefined,
    status_id: isDecided ? 2 : 1,
    instructors,
    gatherings: toGatherings(run),
    ...run.fields,
  };
}

const meetingUrl = ({ ref }: Run) => `https://mote.fjordkurs.example/${toSlug(ref)}`;

const themes = ['Bli kjent og komme i gang', 'Øve, spørre og prøve igjen', 'Fra kurset til hverdagen'];

/** A single session has all instructors; else they rotate. */
function toGatherings(run: Run): Fields[] {
  const { from, to, location, instructors } = toFormat(run);
  const meetings = toMeetings(run);
  return meetings.map(({ ref, day }, n) => ({
    ref,
    gathering_at: `${day} ${from}`,
    gathering_end_at: `${day} ${to}`,
    idLocation: 'location_id' in run.fields ? undefined : location,
    instructors: meetings.length === 1 ? instructors : [instructors[n % instructors.length]],
    ...(meetings.length === 1
      ? {}
      : { theme: themes[Math.min(n, 1) + Number(n === meetings.length - 1)], description: `Samling ${n + 1}` }),
    ...(toLocation(run)['is_virtual'] === true ? { event_url: meetingUrl(run) } : {}),
  }));
}
