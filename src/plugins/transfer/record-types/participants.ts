import { Type } from '@sinclair/typebox';
import { sql } from 'drizzle-orm';
import { Problem } from '../../../core/errors.ts';
import { Count, OneOf, StoredMoment, Title } from '../../../core/schema/types.ts';
import { allAreas } from '../../../database/areas.ts';
import {
  attendanceMarks,
  attendances,
  orderLineParticipants,
  participants,
} from '../../../database/tables/participants.ts';
import { ParticipantBody } from '../../../domains/bookings/booking/body-schema.ts';
import { entrySources, paidStates } from '../../../domains/participants/participants/schema.ts';
import { participantStatuses } from '../../../core/reference/participant-statuses.ts';
import { links, type BulkRecordType, type Fields, type Item } from '../record-type.ts';
import { hasRepeated } from './order-rules.ts';
import { tableFields, CreditedAmount } from './table-fields.ts';

const { Optional } = Type;

/** A participant's share in a line of a credit. */
const creditShare: Item = {
  table: orderLineParticipants,
  fields: tableFields(orderLineParticipants, {
    participantId: null,
    orderLineId: { to: 'order_line' },
    amount: { schema: Optional(CreditedAmount) },
  }),
  computed: { is_credited: 'coalesce(v.is_credited, false)' },
};

const Minutes = Count({ maximum: 1_440 });
/** An older version has stored some of those who were absent. */
const minutes = 'case when v.attended or v.minutes = 0 then v.minutes end';

/** A participant's attendance of a session of the course date. */
const attendance: Item = {
  table: attendances,
  fields: tableFields(attendances, {
    participantId: null,
    gatheringId: { to: 'gathering' },
    minutes: { schema: Optional(Minutes) },
  }),
  computed: { minutes },
};

/** A mark of a participant's attendance, the one that stands and others. */
const attendanceMark: Item = {
  table: attendanceMarks,
  fields: tableFields(attendanceMarks, {
    participantId: null,
    gatheringId: { to: 'gathering' },
    minutes: { schema: Optional(Minutes) },
    nonce: { schema: Title({ maxLength: 64 }) },
  }),
  // No line refers to a mark.
  computed: { minutes, id: "nextval(pg_get_serial_sequence('attendance_marks', 'id'))" },
};

/**
 * Lines of other orders than the booking's and its differences, credits of lines that do not name the participant, and
 * shares in other lines or in lines that are named before. An order is one line, with its booking.
 */
const wrongLines = `
  with named as (
    select s.line, s.part, s.data ? 'is_credited' as is_share, s.refs->'order_line_id'->>1 as ref,
      p.refs->'booking_id'->>1 as booking, row_number() over (partition by s.line, s.refs order by s.part) as nth,
      row_number() over (partition by s.line, s.data ? 'is_credited' order by s.part) - 1 as position
    from staged_lines s join staged_lines p on p.provider_id = $1 and p.line = s.line and p.part = 0
    where s.provider_id = $1 and s."table" = 'order_line_participants'),
  known as (
    select l.ref_kind as kind, l.ref, coalesce(o.refs->'first_order_id'->>1, o.ref) as first_order,
      l.refs->'credits_line_id'->>1 as credited
    from staged_lines l join staged_lines o on o.provider_id = $1 and o.line = l.line and o.part = 0
    where l.provider_id = $1 and l.ref_kind in ('booking', 'order_line') and o.bad is not true
    union all select i.kind, i.ref, f.ref, c.ref
    from (select 'order_line' as kind, ref from named union select 'booking', booking from named) w
      join import_refs i on i.provider_id = $1 and i.kind = w.kind and i.ref = w.ref
      left join bookings b on b.provider_id = $1 and b.id = i.item_id and i.kind = 'booking'
      left join order_lines l on l.provider_id = $1 and l.id = i.item_id and i.kind = 'order_line'
      join orders o on o.provider_id = $1 and o.id = coalesce(b.order_id, l.order_id)
      join import_refs f on f.provider_id = $1 and f.kind = 'order' and f.item_id = coalesce(o.first_order_id, o.id)
      left join import_refs c on c.provider_id = $1 and c.kind = 'order_line' and c.item_id = l.credits_line_id)
  select n.line, case when n.is_share then format('credits[%s].order_line_id', n.position) else 'order_lines' end as path
  from named n join known l on l.kind = 'order_line' and l.ref = n.ref
    left join known b on b.kind = 'booking' and b.ref = n.booking
    left join named c on not c.is_share and c.line = n.line and c.ref = l.credited
  where n.nth > 1 or n.is_share and l.credited is null
    or case when l.credited is null then b.first_order <> l.first_order else c.ref is null end
  order by n.line, n.part`;

const gatheringsOfOtherDates = (table: string) => `
  select a.line from staged_lines a join staged_lines p on p.provider_id = $1 and p.line = a.line and p.part = 0
  left join staged_lines g on g.provider_id = $1 and g.ref_kind = 'gathering' and g.ref = a.refs->'gathering_id'->>1
  left join import_refs gi on gi.provider_id = $1 and gi.kind = 'gathering' and gi.ref = a.refs->'gathering_id'->>1
  left join gatherings t on t.provider_id = $1 and t.id = gi.item_id
  left join import_refs di on di.provider_id = $1 and di.kind = 'coursedate' and di.ref = p.refs->'course_date_id'->>1
  where a.provider_id = $1 and a.kind = 'participant' and a."table" = '${table}' and p.bad is not true and g.bad is not true
    and (
      g.refs->'course_date_id' is distinct from p.refs->'course_date_id' and g.line is not null
      or t.course_date_id is distinct from di.item_id and g.line is null
    )`;

/** Waiting lists are ordered by this time; a future one would block its participant's promotion. */
const statusInTheFuture = `
  with own as materialized
    (select line, data from staged_lines
      where provider_id = $1 and kind = 'participant' and part = 0 and bad is not true)
  select line from own where (data->>'status_updated_at')::timestamptz > now()`;

const creditsWithoutShares = `
  select l.id from order_lines l join order_line_participants n on n.provider_id = $1 and n.order_line_id = l.id
  where l.provider_id = $1 and l.credits_line_id is not null
  group by l.id having bool_and(n.amount is null and not n.is_credited) order by l.id`;
const creditsPerLock = 200;

/** The line's status applies regardless of capacities. */
export const participant: BulkRecordType = {
  kind: 'participant',
  table: participants,
  checks: [
    { field: 'order_lines', text: wrongLines },
    { field: 'attendance', text: gatheringsOfOtherDates('attendances') },
    { field: 'attendance_marks', text: gatheringsOfOtherDates('attendance_marks') },
    { field: 'status_updated_at', text: statusInTheFuture },
  ],
  fields: tableFields(participants, {
    bookingId: { name: 'idBooking', to: 'booking' },
    courseId: null,
    courseDateId: { name: 'coursedate_id', to: 'coursedate' },
    userId: { to: 'user' },
    statusId: { name: 'idStatus', schema: Optional(OneOf([...participantStatuses.keys()])) },
    statusUpdatedAt: { schema: Optional(StoredMoment()) },
    paidId: { name: 'idPaid', schema: Optional(OneOf([...paidStates.keys()])) },
    entrySource: { schema: Optional(OneOf([...entrySources.keys()], { default: 'School' })) },
    userComment: { schema: ParticipantBody.properties.comment },
    heldFor: { schema: Optional(OneOf(['offer', 'name'])) },
    lapsedOffers: { schema: Optional(Count({ maximum: 32_767 })) },
  }),
  derived: { course_id: participants.courseId },
  computed: {
    course_id:
      '(select d.course_id from course_dates d where d.provider_id = v.provider_id and d.id = v.course_date_id)',
    status_updated_at: 'coalesce(v.status_updated_at, v.created_at)',
    completed_by_hand: 'coalesce(v.completed_by_hand, v.completed)',
  },
  complete({ held_for: heldFor, held_until: heldUntil, idStatus = 1, ...fields }) {
    const { attendance = [], attendance_marks: marks = [] } = fields as Record<string, Fields[] | undefined>;
    const statuses = heldFor === 'offer' ? [7] : [2, 7];
    const keys = marks.map(({ gathering_id, nonce }) => ({ key: JSON.stringify([gathering_id, nonce]) }));
    const notValid = [
      ...(heldFor !== undefined && !statuses.includes(idStatus as number) ? ['held_for'] : []),
      ...((heldFor === 'offer') !== (heldUntil !== undefined) ? ['held_until'] : []),
      ...(hasRepeated(attendance, 'gathering_id') ? ['attendance'] : []),
      ...(hasRepeated(keys, 'key') ? ['attendance_marks'] : []),
    ];
    if (notValid.length > 0) throw Problem.invalidFields({ notValid });
    return undefined;
  },
  parts: {
    order_lines: {
      ...links(orderLineParticipants.participantId, orderLineParticipants.orderLineId, 'order_line'),
      exported: 't.amount is null and not t.is_credited',
    },
    credits: {
      ...{ form: 'list', owner: orderLineParticipants.participantId, item: creditShare },
      exported: '(t.amount is not null or t.is_credited)',
    },
    attendance: { form: 'list', owner: attendances.participantId, item: attendance },
    attendance_marks: { form: 'list', owner: attendanceMarks.participantId, item: attendanceMark, maxItems: 10_000 },
  },
  // An older version exports the lines of credits without shares.
  async afterAll({ pool }, ctx) {
    const { providerId } = ctx;
    const credits = await pool.query<{ id: number }>(creditsWithoutShares, [providerId]);
    const ids = credits.rows.map(({ id }) => id);
    for (let from = 0; from < ids.length; from += creditsPerLock) {
      const next = sql.param(ids.slice(from, from + creditsPerLock));
      const text = sql`select share_older_credits(${providerId}, id - 1, 1) from unnest(${next}::bigint[]) id`;
      await ctx.write(allAreas, ({ tx }) => tx.execute(text));
    }
  },
  // An order shows its participants.
  touches: (providerId, now, ids) => sql`
    update orders set updated_at = ${now} where provider_id = ${providerId} and updated_at < ${now} and id = any(array(
      select (select order_id from bookings b where b.provider_id = ${providerId} and b.id = (
        select booking_id from participants p where p.provider_id = ${providerId} and p.id = created.id
      )) from (${ids}) created
    ))`,
};
