// Text: marks are stored in one statement, and completed by the same sums that find their dates.
import { seatStatuses } from '../../../core/reference/statuses.ts';
import { currentTimeSql } from '../../../database/tables/columns.ts';
import { attendedShareSql } from '../../../database/tables/participants.ts';
import { statement, typed, typedOrNull } from '../../../database/statement.ts';
import type { MarkResult } from './schema.ts';

/** Stores marks of a course date; returns the result of each, in their order. */
export const storeMarks = statement(
  'store_attendance_marks',
  {
    takes: {
      ...({ providerId: 'int', courseDateId: 'int', now: 'moment' } as const),
      marks: {
        rows: {
          ...({ participant: 'int', gathering: 'int', attended: 'bool?', minutes: 'int?' } as const),
          ...({ at: 'moment?', nonce: 'text' } as const),
        },
      },
    },
    returns: {
      ...({ participant_id: 'int', gathering_id: 'int', nonce: 'text' } as const),
      code: typedOrNull<MarkResult['code']>('text'),
      result: typed<MarkResult['result']>('text'),
    },
  },
  `with sent as (
      select m.*, least(:now::timestamptz, greatest(coalesce(m.at, :now), d.starts_at - interval '1 year')) as marked_at,
        row_number() over (partition by m.participant, m.gathering, m.nonce order by m.place) as n
      from course_dates d, (select * from :marks) m
      where d.provider_id = :providerId and d.id = :courseDateId),
    checked as (
      select s.*, case
          when p.id is null then 'participant_unknown'
          when g.id is null then 'gathering_unknown'
          when h.id is null and s.attended is not null and g.gathering_at::date > timezone(g.zone, :now::timestamptz)::date
            then 'gathering_not_begun'
          when h.id is null and p.status_id not in (${seatStatuses.join(', ')}) then 'participant_without_seat' end as code,
        s.n > 1 or h.id is not null as is_repeated
      from sent s
        left join participants p on p.provider_id = :providerId and p.id = s.participant and p.course_date_id = :courseDateId
        left join gatherings g on g.provider_id = :providerId and g.id = s.gathering and g.course_date_id = :courseDateId and g.deleted_at is null
        left join attendance_marks h on h.provider_id = :providerId and h.participant_id = s.participant
          and h.gathering_id = s.gathering and h.nonce = s.nonce),
    fresh as (
      select c.*, coalesce(c.marked_at < greatest(a.registered_at, max(c.marked_at) over before), false) as is_older
      from checked c
        left join attendances a on a.provider_id = :providerId and a.participant_id = c.participant and a.gathering_id = c.gathering
      where c.code is null and not c.is_repeated
      window before as (partition by c.participant, c.gathering order by c.place
        rows between unbounded preceding and 1 preceding)),
    kept as (
      insert into attendance_marks (provider_id, participant_id, gathering_id, attended, minutes, marked_at, nonce, created_at)
      select :providerId, participant, gathering, attended, minutes, marked_at, nonce, :now from fresh order by place),
    written as (
      insert into attendances (provider_id, participant_id, gathering_id, attended, minutes, registered_at)
      select distinct on (participant, gathering) :providerId::bigint, participant, gathering, attended, minutes, marked_at
      from fresh where not is_older order by participant, gathering, place desc
      on conflict (provider_id, participant_id, gathering_id) do update
        set attended = excluded.attended, minutes = excluded.minutes, registered_at = excluded.registered_at)
    select c.participant as participant_id, c.gathering as gathering_id, c.nonce, c.code,
      case when c.code is not null then 'refused' when c.is_repeated then 'repeated'
        when f.is_older then 'older' else 'stored' end as result
    from checked c left join fresh f on f.place = c.place
    order by c.place`,
);

/** `is_complete` is true for a participant whose attended share reaches the minimum of the course of the date `d`. */
const completions = (school: string) => `lateral (
      select p.id, p.completed, ${attendedShareSql('g', 'a')} >= c.completion_min_share as is_complete
      from participants p
        join gatherings g on g.provider_id = p.provider_id and g.course_date_id = p.course_date_id and g.deleted_at is null
        left join attendances a on a.provider_id = p.provider_id and a.participant_id = p.id and a.gathering_id = g.id
      where p.provider_id = ${school} and p.course_date_id = d.id and not p.completed_by_hand
        and p.status_id in (${seatStatuses.join(', ')})
      group by p.provider_id, p.id
      having max(timezone(g.zone, g.gathering_end_at)) <= ${currentTimeSql}) one`;
const courseOfDate = `join courses c on c.provider_id = d.provider_id and c.id = d.course_id
      and c.completion_min_share is not null`;

/** Completes participants of a date by their attendance; those of `markedIds` are updated in any case. */
export const completeParticipants = statement(
  'complete_participants',
  { takes: { providerId: 'int', courseDateId: 'int', now: 'moment', markedIds: 'int[]' } },
  `with completed as (
      select one.id, one.is_complete from course_dates d ${courseOfDate} cross join ${completions(':providerId')}
      where d.provider_id = :providerId and d.id = :courseDateId and one.completed <> one.is_complete)
    update participants p set updated_at = :now,
      completed = coalesce((select is_complete from completed where completed.id = p.id), p.completed)
    where p.provider_id = :providerId and p.id in (select id from completed union :markedIds)`,
);

/** Dates whose last gathering ended within 7 days, and which have participants to complete. */
export const findDueDates = statement(
  'find_dates_to_complete',
  {
    takes: {},
    returns: { providerId: 'int', courseDateId: 'int' },
    acrossSchools: 'A job completes those of all schools, but for those that are being deleted.',
  },
  `select d.provider_id as "providerId", d.id as "courseDateId"
    from provider_state s
      join courses c on c.provider_id = s.provider_id and c.completion_min_share is not null
      join course_dates d on d.provider_id = c.provider_id and d.course_id = c.id and d.deleted_at is null
        and d.starts_at <= ${currentTimeSql} and d.ends_at > ${currentTimeSql} - interval '1 year'
    where (select max(timezone(g.zone, g.gathering_end_at)) from gatherings g
        where g.provider_id = d.provider_id and g.course_date_id = d.id and g.deleted_at is null)
        between ${currentTimeSql} - interval '7 days' and ${currentTimeSql}
      and exists (select from ${completions('d.provider_id')} where one.completed <> one.is_complete)
    order by 1, 2 limit 1000`,
);
