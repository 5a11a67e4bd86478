import type { Enrolment, Meeting } from './courses.ts';

type Location = Meeting['location'];

/** The lines of a location's address. */
function locationLines(location: Location): string[] {
  if (location === null) return [];
  const { title, address, zipcode, city } = location;
  return given([title, address, given([zipcode, city]).join(' ')]);
}

/** Where a course date is held, line by line; none when nobody has said. */
export function placeLines({ location, placeTitle, placeAdditionalInfo }: Enrolment): string[] {
  const lines = locationLines(location);
  return given([...(lines.length > 0 ? lines : [placeTitle]), placeAdditionalInfo]);
}

/** Where a gathering is held, when that is a place of its own. */
export const meetingLines = (meeting: Meeting): string[] => locationLines(meeting.location);

const given = (lines: (string | null)[]) => lines.filter((line): line is string => Boolean(line?.trim()));
