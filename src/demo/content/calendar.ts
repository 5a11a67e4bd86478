/** Days as `yyyy-mm-dd`, told from the day of loading, so that the demo data always has past and coming ones. */
export type Calendar = {
  today: string;
  /** A day so many weeks from this week; 1 is Monday, 7 Sunday. Never this week's, where a day may be past or coming. */
  weekday(week: number, day: number): string;
  /** The next Sunday from tomorrow on on which Europe's clocks are changed, and whether an hour is lost or won. */
  clockChange: { day: string; isSpring: boolean };
};

const dayLength = 86_400_000;
const getTime = (day: string) => Date.parse(`${day}T00:00:00Z`);

export const plusDays = (day: string, days: number) =>
  new Date(getTime(day) + days * dayLength).toISOString().slice(0, 10);

/** The calendar as it is on a day. */
export function calendarOn(today: string): Calendar {
  const monday = plusDays(today, -((new Date(getTime(today)).getUTCDay() + 6) % 7));
  return {
    today,
    weekday: (week, day) => plusDays(monday, 7 * week + day - 1),
    clockChange: nextClockChange(today),
  };
}

/** The last Sundays of March and October. */
function nextClockChange(today: string) {
  const year = Number(today.slice(0, 4));
  const changes = [year, year + 1].flatMap((one) => [
    { day: sundayUpTo(`${one}-03-31`), isSpring: true },
    { day: sundayUpTo(`${one}-10-31`), isSpring: false },
  ]);
  return changes.find(({ day }) => day > today)!;
}

const sundayUpTo = (day: string) => plusDays(day, -new Date(getTime(day)).getUTCDay());
