import { Type } from '@sinclair/typebox';
import { sql, type SQL } from 'drizzle-orm';
import { Problem } from '../../../core/errors.ts';
import { Count, OneOf, StoredMoment, Title } from '../../../core/schema/types.ts';
import { allAreas } from '../../../database/areas.ts';
import {
  attendanceMarks,
  attendances,
  orderLineParticipants,
  participants,
} from '../../../database/tables/participants.ts';
import { ParticipantBody } from '../../../resources/booking/body-schema.ts';
import { entrySources, paidStates, participantStatuses } from '../../../resources/participants/schema.ts';
import { links, type BulkRecordType, type Fields, type Item } from '../record-type.ts';
import { hasRepeated } from './order-rules.ts';
import { tableFields } from './table-fields.ts';
import { CreditedAmount } from './value-formats.ts';

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
 * Order lines of another order than the booking's. Either both are staged or both are imported: an order is one line.
 * Credits and differences have no booking.
 */
const linesOfOtherOrders = `
  select l.line from staged_lines l join staged_lines p on p.provider_id = $1 and p.line = l.line and p.part = 0
  left join staged_lines b on b.provider_id = $1 and b.ref_kind = 'booking' and b.ref = p.refs->'booking_id'->>1
  left join staged_lines o on o.provider_id = $1 and o.ref_kind = 'order_line' and o.ref = l.refs->'order_line_id'->>1
  left join import_refs bi on bi.provider_id = $1 and bi.kind = 'booking' and bi.ref = p.refs->'booking_id'->>1
  left join bookings bk on bk.provider_id = $1 and bk.id = bi.item_id
  left join import_refs oi on oi.provider_id = $1 and oi.kind = 'order_line' and oi.ref = l.refs->'order_line_id'->>1
  left join order_lines ol on ol.provider_id = $1 and ol.id = oi.item_id
  left join staged_lines so on so.provider_id = $1 and so.ref_kind = 'order' and so.ref = o.refs->'order_id'->>1
  left join orders io on io.provider_id = $1 and io.id = ol.order_id
  where l.provider_id = $1 and l.kind = 'participant' and l."table" = 'order_line_participants' and p.bad is not true
    and b.bad is not true and o.bad is not true
    and coalesce(so.data->>'kind', io.kind, 'order') = 'order'
    and (b.refs->'order_id' is distinct from o.refs->'order_id' or bk.order_id is distinct from ol.order_id)`;

/** Shares in lines that are named before, are of no credit, or are of a credit of a line that does not name the participant. */
const wrongCredits = `
  with named as (
    select line, part, data ? 'is_credited' as is_share, refs->'order_line_id' as target, i.item_id,
      row_number() over (partition by line, refs order by part) as nth
    from staged_lines left join import_refs i
      on i.provider_id = $1 and i.kind = 'order_line' and i.ref = refs->'order_line_id'->>1
    where staged_lines.provider_id = $1 and "table" = 'order_line_participants')
  select s.line, format('credits[%s].order_line_id', s.position) as path
  from (select *, row_number() over (partition by line order by part) - 1 as position from named where is_share) s
  left join staged_lines c on c.provider_id = $1 and c.ref_kind = 'order_line' and c.ref = s.target->>1
  left join order_lines l on l.provider_id = $1 and l.id = s.item_id
  where s.nth > 1 or not exists (
    select from named n where n.line = s.line and not n.is_share
      and (n.target = c.refs->'credits_line_id' or n.item_id = l.credits_line_id))
  order by s.line, s.position`;

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

const creditsPerLock = 200;

/** The line's status applies regardless of capacities. */
export const participant: BulkRecordType = {
  kind: 'participant',
  table: participants,
  checks: [
    { field: 'order_lines', text: linesOfOtherOrders },
    { field: 'credits', text: wrongCredits },
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
  async afterAll(ctx) {
    for (let last: number | null = 0; last !== null;) {
      const text: SQL = sql`select share_older_credits(${ctx.providerId}, ${last}, ${creditsPerLock}) as line`;
      last = await ctx.write(allAreas, async (tx) => {
        const { rows } = await tx.execute<{ line: number | null }>(text);
        return rows[0]!.line ?? tx.rollbackNoChange(null);
      });
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
