/** A place with an address, as far as it is known. */
export type Location = {
  isVirtual: boolean | null;
  title: string | null;
  address: string | null;
  zipcode: string | null;
  city: string | null;
};

/** What is known of where a course date is held. */
export type Whereabouts = {
  isVirtual: boolean | null;
  location: Location | null;
  placeTitle: string | null;
  placeAdditionalInfo: string | null;
};

export const isOnline = ({ isVirtual, location }: Whereabouts) => isVirtual === true || location?.isVirtual === true;

/** The lines of a location's address. */
export function locationLines(location: Location | null): string[] {
  if (location === null) return [];
  const { title, address, zipcode, city } = location;
  return options([title, address, options([zipcode, city]).join(' ')]);
}

/** Where a course date is held, line by line; none when nobody has said. */
export function placeLines({ location, placeTitle, placeAdditionalInfo }: Whereabouts): string[] {
  const lines = locationLines(location);
  return options([...(lines.length > 0 ? lines : [placeTitle]), placeAdditionalInfo]);
}

const options = (lines: (string | null)[]) => lines.filter((line): line is string => Boolean(line?.trim()));
