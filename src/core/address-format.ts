import { normalizeLineBreaks } from './text.ts';

export type Location = {
  isVirtual: boolean | null;
  title: string | null;
  address: string | null;
  zipcode: string | null;
  city: string | null;
};

/** Venue of a course date. */
export type Venue = {
  isVirtual: boolean | null;
  location: Location | null;
  placeTitle: string | null;
  placeAdditionalInfo: string | null;
};

export const isOnline = ({ isVirtual, location }: Venue) => isVirtual === true || location?.isVirtual === true;

/** Address lines; blank parts are omitted. */
export function locationLines(location: Location | null): string[] {
  if (location === null) return [];
  const { title, address, zipcode, city } = location;
  return withoutBlank([title, address, withoutBlank([zipcode, city]).join(' ')]);
}

/** The parts of a venue: the location's address or else the place's title, then additional info. */
export function venueParts({ location, placeTitle, placeAdditionalInfo }: Venue): string[] {
  const lines = locationLines(location);
  return withoutBlank([...(lines.length > 0 ? lines : [placeTitle]), placeAdditionalInfo]);
}

/** Returns the lines of `venueParts`. */
export const venueLines = (venue: Venue) =>
  withoutBlank(venueParts(venue).flatMap((part) => normalizeLineBreaks(part).split('\n')));

const withoutBlank = (lines: (string | null)[]) => lines.filter((line): line is string => Boolean(line?.trim()));
