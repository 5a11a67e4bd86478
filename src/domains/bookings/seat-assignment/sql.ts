import { isMailOnSql } from '../../../core/reference/mail-kinds.ts';
import { canceled, participantStatus } from '../../../core/reference/statuses.ts';
import { currentTimeSql } from '../../../database/tables/columns.ts';
import { waitingMailsSql } from '../../messages/mails/loaders.ts';
import { openOffersSql } from '../../courses/seats/loaders.ts';

const seats = `d.capacity_max as "capacityMax", d.capacity_overbook as "capacityOverbook", d.capacity_wait as "capacityWait",
      d.num_confirmed as "numConfirmed", d.num_overbooked as "numOverbooked", d.num_unconfirmed as "numUnconfirmed",
      d.num_waiting as "numWaiting", ${openOffersSql('d')} as "openOffers"`;

/** Dates on which participants may move up. */
const isOpen = `d.status_id <> ${canceled} and d.deleted_at is null and d.ends_at > ${currentTimeSql}`;

const queued = (status: number) => `p.provider_id = $1 and p.course_date_id = d.id and p.status_id = ${status}
          and (p.status_updated_at < $3
            or d.waiting_mode = 'offer' and p.id in (select json_array_elements_text($4)::bigint))
        order by p.status_updated_at, p.id`;

/** The end of an offer at most. */
const offersEnd = `case when d.starts_at > ${currentTimeSql} then d.starts_at else d.ends_at end`;

/** Skips participants whose status changed in this transaction, but for `$4`, who are behind all others. */
const queues = (waitingLimit: string) => `select d.id, ${seats}, d.waiting_mode as "waitingMode",
      least(${currentTimeSql} + d.offer_hours * interval '1 hour', ${offersEnd})::text as "offerEnd",
      to_json(array(select json_build_object('id', p.id, 'heldFor', p.held_for) from participants p
        where ${queued(participantStatus.overbooked)}
        limit case when d.capacity_max > 0 then greatest(0, d.capacity_max - d.num_confirmed - d.num_unconfirmed) end)) as overbooked,
      to_json(array(select json_build_object('id', p.id, 'heldFor', p.held_for, 'groupId', case when b.waiting_together then b.id end)
        from participants p join bookings b on b.provider_id = $1 and b.id = p.booking_id
        where ${queued(participantStatus.waiting)}
        limit ${waitingLimit})) as waiting
    from course_dates d
    where d.provider_id = $1 and d.id in (select json_array_elements_text($2)::bigint) and ${isOpen}
    order by d.id`;

/** As many waiting participants as there are places. */
export const readQueues = {
  name: 'read_queues',
  text: queues(`case when d.capacity_max > 0 then greatest(0, d.capacity_max + d.capacity_overbook
          - d.num_confirmed - d.num_overbooked - d.num_unconfirmed) end`),
};
/** All waiting participants: a group without room is passed by others. */
export const readWholeQueues = { name: 'read_whole_queues', text: queues('null') };

export const changeStates = {
  name: 'change_states',
  text: `update participants p set status_id = m."statusId", held_for = m."heldFor", held_until = m."heldUntil",
      lapsed_offers = p.lapsed_offers + m.lapsed, status_updated_at = $3, updated_at = $3
    from json_to_recordset($2) m ("participantId" bigint, "statusId" smallint, "heldFor" text, "heldUntil" timestamptz, lapsed smallint)
    where p.provider_id = $1 and p.id = m."participantId"`,
};

/**
 * Shortens the offers of the date `$2` that end later than it allows, and mails the new end while it is to come. Locks
 * mails that wait, as a changed date does.
 */
export const shortenOffers = {
  name: 'shorten_offers',
  text: `with waiting as (${waitingMailsSql('offer', '$1', '$2')}),
    shortened as (
      update participants p set held_until = ${offersEnd}, updated_at = $3
      from course_dates d
      where d.provider_id = $1 and d.id = $2 and d.num_unconfirmed > 0 and p.provider_id = $1 and p.course_date_id = d.id
        and p.status_id = ${participantStatus.unconfirmed} and p.held_until > ${offersEnd}
      returning p.id, p.user_id, p.held_until)
    insert into outbox (provider_id, purpose, user_id, participant_id, created_at, due_at)
    select $1, 'offer', s.user_id, s.id, $3, ${currentTimeSql} from shortened s
    where s.held_until > ${currentTimeSql} and ${isMailOnSql('$1', `'offer'`)}
      and s.id not in (select participant_id from waiting)
    order by s.id`,
};

/** Those of the participants `$2` whose booking waits together. */
export const findGrouped = {
  name: 'find_grouped_participants',
  text: `select p.id from participants p join bookings b on b.provider_id = $1 and b.id = p.booking_id
    where p.provider_id = $1 and p.id in (select json_array_elements_text($2)::bigint) and b.waiting_together`,
};

export type Offer = { participantId: number; courseDateId: number; lapsedOffers: number };
const offer = `p.id as "participantId", p.course_date_id as "courseDateId", p.lapsed_offers as "lapsedOffers"`;
const isDue = `p.status_id = ${participantStatus.unconfirmed} and p.held_until <= ${currentTimeSql}`;

/** Limits the time under the lock: a second end makes a credit. */
export const maxEnded = 50;

/** The first due offers of the dates `$2`, of all unless sent, that of the participant `$3` before others. */
export const findDueOffers = {
  name: 'find_due_offers',
  text: `select ${offer} from participants p
    where p.provider_id = $1 and ${isDue}
      and ($2::json is null or p.course_date_id in (select json_array_elements_text($2::json)::bigint))
    order by p.id = $3::bigint desc, p.held_until, p.id limit ${maxEnded}`,
};

/** An open offer of a date on which it can be accepted, with the seats of the date. */
export const findOffer = {
  name: 'find_offer',
  text: `select ${offer}, ${seats} from participants p join course_dates d on d.provider_id = $1 and d.id = p.course_date_id
    where p.provider_id = $1 and p.id = $2 and p.held_for = 'offer' and ${isOpen}`,
};

/** The providers with the offers that ended first, without those of $1 and those that are being deleted. */
export const findProvidersWithDueOffers = {
  name: 'find_providers_with_due_offers',
  text: `select p.provider_id as id from participants p
    where p.held_until <= ${currentTimeSql} and exists (select from provider_state s where s.provider_id = p.provider_id)
      and p.provider_id not in (select json_array_elements_text($1)::bigint)
    group by p.provider_id order by min(p.held_until), p.provider_id limit $2`,
};
