/** A limit for the calculation with days, which fails for the largest numbers that the field allows. */
const maxDays = 3_650;

/** The days between the notification of a date and its start or deadline. */
export const notificationDaysSql = (location: string) => `least(${location}.notification_days, ${maxDays})`;
