import type { Fields } from '../../record-type.ts';
import type { Booking } from './bookings.ts';
import { plusDays, type Calendar } from './calendar.ts';
import { toEndDate, toFormat, toMeetings } from './dates.ts';
import type { Line } from './lines.ts';
import { isPaid } from './orders.ts';

const comments = [
  'Jeg er vegetarianer.',
  'Kommer med tog, kanskje ti minutter sent.',
  'Bruker høreapparat, sitter helst foran.',
];

/** Participants, in order of the bookings. */
export const participantLines = (calendar: Calendar, bookings: Booking[]): Line[] =>
  bookings
    .flatMap((booking) => booking.participants.map((one, member) => ({ booking, member, ...one })))
    .map((seat, n) => participantLine(calendar, { ...seat, n }));

type Seat = Booking['participants'][number] & { booking: Booking; member: number; n: number };

function participantLine(calendar: Calendar, { booking, member, user, letter, status, n }: Seat): Line {
  const { ref, run, orderedOn, customer } = booking;
  const hasLeft = letter === 'd' || letter === 'f';
  const leftOn = run.start > calendar.today ? plusDays(calendar.today, -1) : plusDays(run.start, -3);
  return {
    kind: 'participant',
    ref: `${ref}/${member + 1}`,
    idBooking: `${ref}/booking`,
    coursedate_id: run.ref,
    user_id: user.ref,
    idStatus: status,
    status_updated_at: hasLeft ? `${leftOn} 08:20` : `${orderedOn} 10:${String(15 + member)}`,
    idPaid: isPaid(calendar, booking) ? 1 : 3,
    entry_source: n % 3 === 0 ? 'School' : 'User',
    user_comment: n % 19 === 5 ? comments[n % comments.length] : undefined,
    invoice_reference: customer?.['invoice_customer_reference'],
    custom_properties: n % 25 === 9 ? { tilrettelegging: 'Heis' } : undefined,
    order_lines: [`${ref}/line`],
    ...(hasLeft ? {} : outcome(calendar, booking, { letter, n })),
  };
}

/** Attendance of past sessions, and the result of past runs. */
function outcome({ today }: Calendar, { run, course }: Booking, { letter, n }: { letter: string; n: number }): Fields {
  const { from } = toFormat(run);
  const existing = toMeetings(run).filter(({ day }) => day < today);
  const attendance = existing.map(({ ref, day }, meeting) => ({
    gathering_id: ref,
    attended: letter !== 'n' && (n + meeting) % 9 !== 4,
    registered_at: `${day} ${from}`,
  }));
  if (toEndDate(run) >= today) return existing.length === 0 ? {} : { attendance };
  const wasThere = letter !== 'n' && attendance.some(({ attended }) => attended);
  const passed = wasThere && n % 11 !== 6;
  const isCertified = passed && (course.tags ?? []).includes('Sertifikat');
  return {
    attendance,
    no_show: !wasThere,
    completed: wasThere,
    passed,
    ...(isCertified ? { certificate_issued_at: toEndDate(run) } : {}),
    ...(run.start < plusDays(today, -150) ? { archived_at: plusDays(today, -60) } : {}),
  };
}
