/** The mails that each school switches on or off; true: sent unless the school has switched it off. */
export const mailKinds = {
  /** Mails to participants; a request may decide otherwise of these two. */
  receipt: false,
  deregistration: false,
  promotion: false,
  offer: true,
  move: true,
  swap: true,
  date_canceled: true,
  date_changed: false,
  reminder: false,
  /** Mail to those who are interested in a course. */
  date_published: true,
  /** Mail to the booker. */
  booking_receipt: false,
  /** Mails to the school. */
  notice_booked: false,
  notice_canceled: false,
  notice_full: false,
  notice_under_minimum: false,
  notice_budget: false,
  /** Once for each address, as the notice of a disabled webhook. */
  address_refused: true,
} as const;
export type MailKind = keyof typeof mailKinds;

export const mailKindNames = Object.keys(mailKinds) as MailKind[];

/** The switches that a school has set; others have their default. */
export type MailSwitches = Partial<Record<MailKind, boolean>>;

export const isMailOn = (kind: MailKind, switches: MailSwitches | null) => switches?.[kind] ?? mailKinds[kind];

const defaults = mailKindNames.filter((kind) => mailKinds[kind]).map((kind) => `'${kind}'`);

/** True if the provider `provider` sends the kind; both are SQL expressions. */
export const isMailOnSql = (provider: string, kind: string) =>
  `coalesce((select (s.mails ->> ${kind})::boolean from booking_settings s where s.provider_id = ${provider}),
    ${kind} in (${defaults.join(', ')}))`;

/** A limit for the calculation with days, which fails for the largest numbers that the field allows. */
const maxDays = 3_650;

/** The days between the notification of a date and its start or deadline. */
export const notificationDaysSql = (location: string) => `least(${location}.notification_days, ${maxDays})`;
