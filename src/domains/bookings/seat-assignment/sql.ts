// Text: queues with aggregated participants, and writes of many rows with a value each.
import { isMailOnSql } from '../../../core/reference/mail-kinds.ts';
import { participantStatus } from '../../../core/reference/statuses.ts';
import { json, statement, typed, typedOrNull, type RowOf } from '../../../database/statement.ts';
import { currentTimeSql } from '../../../database/tables/columns.ts';
import { isOngoingSql, seatReturns, seatsSql } from '../../courses/seats/loaders.ts';
import type { Queued, Waiting } from '../../courses/seats/schema.ts';
import { waitingMailsSql } from '../../messages/mails/loaders.ts';

const queued = (status: number) => `p.provider_id = :providerId and p.course_date_id = d.id and p.status_id = ${status}
          and (p.status_updated_at < :now or d.waiting_mode = 'offer' and p.id in :lapsedIds)
        order by p.status_updated_at, p.id`;

/** The end of an offer at most. */
const offersEnd = `case when d.starts_at > ${currentTimeSql} then d.starts_at else d.ends_at end`;

/**
 * Dates with their overbooked and waiting participants in order of arrival: at most as many as could move, or the whole
 * waiting list, since a group without room is passed by others. Skips participants whose status changed in this
 * transaction, but for those with a lapsed offer, who are behind all others.
 */
export const readQueues = statement(
  'read_queues',
  {
    takes: { providerId: 'int', courseDateIds: 'int[]', now: 'moment', lapsedIds: 'int[]', isWhole: 'bool' },
    returns: {
      id: 'int',
      ...seatReturns,
      waitingMode: typed<'promote' | 'offer'>('text'),
      /** The end of an offer made now. */
      offerEnd: 'moment',
      overbooked: json<Queued[]>(),
      waiting: json<Waiting[]>(),
    },
  },
  `select d.id, ${seatsSql('d')}, d.waiting_mode as "waitingMode",
      least(${currentTimeSql} + d.offer_hours * interval '1 hour', ${offersEnd})::text as "offerEnd",
      to_json(array(select json_build_object('id', p.id, 'heldFor', p.held_for) from participants p
        where ${queued(participantStatus.overbooked)}
        limit case when d.capacity_max > 0 then greatest(0, d.capacity_max - d.num_confirmed - d.num_unconfirmed) end)) as overbooked,
      to_json(array(select json_build_object('id', p.id, 'heldFor', p.held_for, 'groupId', case when b.waiting_together then b.id end)
        from participants p join bookings b on b.provider_id = :providerId and b.id = p.booking_id
        where ${queued(participantStatus.waiting)}
        limit case when d.capacity_max > 0 and not :isWhole then greatest(0, d.capacity_max + d.capacity_overbook
          - d.num_confirmed - d.num_overbooked - d.num_unconfirmed) end)) as waiting
    from course_dates d
    where d.provider_id = :providerId and d.id in :courseDateIds and ${isOngoingSql('d')}
    order by d.id`,
);
export type Queue = RowOf<typeof readQueues>;

export const changeStates = statement(
  'change_states',
  {
    takes: {
      providerId: 'int',
      now: 'moment',
      changes: {
        rows: {
          participantId: 'int',
          statusId: 'int',
          heldFor: typedOrNull<Queued['heldFor']>('text'),
          heldUntil: 'moment?',
          lapsed: 'int',
        },
      },
    },
  },
  `update participants p set status_id = changes."statusId", held_for = changes."heldFor",
      held_until = changes."heldUntil", lapsed_offers = p.lapsed_offers + changes.lapsed, status_updated_at = :now,
      updated_at = :now
    from :changes
    where p.provider_id = :providerId and p.id = changes."participantId"`,
);

/** Shortens offers that end later than the date allows, and mails the new end; locks mails that wait. */
export const shortenOffers = statement(
  'shorten_offers',
  { takes: { providerId: 'int', courseDateId: 'int', now: 'moment' } },
  `with waiting as (${waitingMailsSql('offer')}),
    shortened as (
      update participants p set held_until = ${offersEnd}, updated_at = :now
      from course_dates d
      where d.provider_id = :providerId and d.id = :courseDateId and d.num_unconfirmed > 0
        and p.provider_id = :providerId and p.course_date_id = d.id
        and p.status_id = ${participantStatus.unconfirmed} and p.held_until > ${offersEnd}
      returning p.id, p.user_id, p.held_until)
    insert into outbox (provider_id, purpose, user_id, participant_id, created_at, due_at)
    select :providerId, 'offer', s.user_id, s.id, :now, ${currentTimeSql} from shortened s
    where s.held_until > ${currentTimeSql} and ${isMailOnSql(':providerId', `'offer'`)}
      and s.id not in (select participant_id from waiting)
    order by s.id`,
);
