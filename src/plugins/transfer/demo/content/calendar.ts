/** Dates as `yyyy-mm-dd`, relative to the day of loading, so that there are always past and future ones. */
export type Calendar = {
  today: string;
  /** The weekday (1 is Monday) `week` weeks from now. Do not pass 0: days of this week may be past or future. */
  weekday(week: number, day: number): string;
  /** Europe's next daylight saving change after today. */
  clockChange: { day: string; isSpring: boolean };
};

const dayLength = 86_400_000;
const toTime = (day: string) => Date.parse(`${day}T00:00:00Z`);

export const plusDays = (day: string, days: number) =>
  new Date(toTime(day) + days * dayLength).toISOString().slice(0, 10);

export function calendarOn(today: string): Calendar {
  const monday = plusDays(today, -((new Date(toTime(today)).getUTCDay() + 6) % 7));
  return {
    today,
    weekday: (week, day) => plusDays(monday, 7 * week + day - 1),
    clockChange: nextClockChange(today),
  };
}

/** On the last Sundays of March and October. */
function nextClockChange(today: string) {
  const year = Number(today.slice(0, 4));
  const changes = [year, year + 1].flatMap((one) => [
    { day: lastSundayUntil(`${one}-03-31`), isSpring: true },
    { day: lastSundayUntil(`${one}-10-31`), isSpring: false },
  ]);
  return changes.find(({ day }) => day > today)!;
}

const lastSundayUntil = (day: string) => plusDays(day, -new Date(toTime(day)).getUTCDay());
