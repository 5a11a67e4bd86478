import { setTimeout as sleep } from 'node:timers/promises';
import { canceled } from '../../../../core/reference/statuses.ts';
import { execute, type Queryable } from '../../../../database/statements.ts';
import { currentTimeSql } from '../../../../database/tables/columns.ts';
import type { Attempted, ClaimedMail } from '../endings.ts';
import type { Letter } from '../letter.tsx';
import { joinLines, type MailData } from '../mail-data.ts';
import { awaitDigest, countNotices, leaseNotices } from '../sql.ts';
import { composeDigest, composeNotice, maxListed, outdatedNotice, type Notice } from './letters.ts';

/** Current data of the notices `$2`. Days and times are in the course date's time zone. */
const findNotices = {
  name: 'find_notices',
  text: `select o.id, o.purpose, concat_ws(' ', u.firstname, u.lastname) as name, coalesce(u.email, '') as email,
      u.erased_at is not null as "isErased", p.status_id as "statusId", p.held_for as "heldFor",
      case when u.is_placeholder then (
        select count(*)::int from participants other
          join course_users nobody on nobody.provider_id = other.provider_id and nobody.id = other.user_id and nobody.is_placeholder
        where other.provider_id = $1 and other.booking_id = p.booking_id and other.course_date_id = p.course_date_id
          and other.status_updated_at = p.status_updated_at) else 0 end as "unnamedPlaces",
      b.order_id as "orderId", coalesce(nullif(d.title, ''), c.title) as title,
      d.start_at::text as "startAt", d.end_at::text as "endAt", d.start_time_at::text as "startTimeAt",
      d.end_time_at::text as "endTimeAt", d.zone, d.deadline_at::text as "deadlineAt",
      timezone(d.zone, ${currentTimeSql})::date > d.deadline_at as "isDeadlineOver",
      d.status_id = ${canceled} as "isDateCanceled", d.deleted_at is not null as "isDateDeleted",
      d.num_confirmed + d.num_overbooked as confirmed, d.num_confirmed + d.num_overbooked + d.num_unconfirmed as taken,
      d.num_waiting as waiting, d.capacity_max as "capacityMax", d.capacity_min as "capacityMin",
      coalesce(l.capacity_budget, 0) as "capacityBudget",
      case when o.purpose = 'moved_away' then json_build_object('title', coalesce(nullif(t.title, ''), k.title),
        'startAt', t.start_at::text, 'endAt', t.end_at::text, 'startTimeAt', t.start_time_at::text,
        'endTimeAt', t.end_time_at::text, 'zone', t.zone) end as "movedTo"
    from outbox o
      left join participants p on p.provider_id = $1 and p.id = o.participant_id
      left join course_users u on u.provider_id = $1 and u.id = p.user_id
      left join bookings b on b.provider_id = $1 and b.id = p.booking_id
      join course_dates d on d.provider_id = $1 and d.id = coalesce(o.course_date_id, p.course_date_id)
      join courses c on c.provider_id = $1 and c.id = d.course_id
      left join locations l on l.provider_id = $1 and l.id = d.location_id
      left join course_dates t on t.provider_id = $1 and t.id = p.course_date_id
      left join courses k on k.provider_id = $1 and k.id = t.course_id
    where o.provider_id = $1 and o.id = any($2::bigint[])
    order by o.id`,
};

/** Notices to one recipient that are sent one by one; of more, a digest is sent. */
const maxSingle = 20;
/** Limits the rows of a transaction. */
const maxCollected = 1_000;
const awaitSeconds = 5;
/** Until deliveries in progress have put off their notices. */
const settleMs = 1_000;

/**
 * Leases the other notices to the recipient of a notice where more than 20 wait; none otherwise. Undefined while another
 * delivery does: of several in progress, in any process, the one with the first notice.
 */
async function collectDigest(on: Queryable, claimed: ClaimedMail): Promise<Attempted[] | undefined> {
  const { waiting, firstInProgress } = await countNotices.one(on, claimed);
  if (waiting <= maxSingle) return [];
  if ((firstInProgress ?? claimed.id) < claimed.id) return undefined;
  const collect = (limit: number) => leaseNotices(on, { ...claimed, limit });
  const collected = await collect(maxCollected - 1);
  if (collected.length < Math.min(waiting, maxCollected) - 1) {
    await sleep(settleMs);
    collected.push(...(await collect(maxCollected - 1 - collected.length)));
  }
  return collected;
}

/** Puts a notice off, with the others to its recipient, while a digest of them is made. */
export const waitForDigest = (on: Queryable, claimed: ClaimedMail) =>
  awaitDigest(on, { ...claimed, seconds: awaitSeconds });

const loadNotices = async (on: Queryable, providerId: number, ids: number[]) =>
  joinLines(await execute<Notice>(on, findNotices, [providerId, ids])) as Notice[];

/**
 * The letter of a notice, or of a digest with it; else why there is none. `name` is that of the message id: another one
 * for other notices, since mail programs hide a second message of one id.
 */
export async function prepareNotice(
  on: Queryable,
  claimed: ClaimedMail,
  mail: MailData,
  timezone: string,
): Promise<{ letter: Letter; name?: string } | { outdated: string } | 'waits'> {
  const { providerId, id } = claimed;
  const [notice] = await loadNotices(on, providerId, [id]);
  const outdated = notice ? outdatedNotice(notice) : 'it was deleted';
  if (outdated !== null) return { outdated };
  const digest = await collectDigest(on, claimed);
  if (digest === undefined) return 'waits';
  if (digest.length === 0) return { letter: composeNotice(mail, notice!, timezone) };
  // Kept with the mail, so that an error puts all of them off.
  claimed.digest = digest;
  const ids = [id, ...digest.map((one) => one.id)].sort((a, b) => a - b);
  const listed = (await loadNotices(on, providerId, ids.slice(0, maxListed))).filter((one) => !outdatedNotice(one));
  const letter = composeDigest(mail, listed, ids.length, timezone);
  return { letter, name: `${mail.createdAt}-${ids[0]}-${ids.at(-1)}-${ids.length}` };
}
