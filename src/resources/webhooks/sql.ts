import { loggedAttempts } from '../../database/tables/webhooks.ts';

/** Seconds until a lease that is not renewed ends. */
export const leaseSeconds = 2;

const claimed = `provider_id as "providerId", id, leased_by as token, url, types, payload, secret,
  case when previous_secret_expires_at > now() then previous_secret end as "previousSecret",
  position, position_clock as "positionClock", resyncs, attempts, updated_at::text as "updatedAt",
  coalesce(extract(epoch from now() - failing_since), 0)::float8 as "failingSeconds"`;

/**
 * Leases up to `$1` due webhooks for `$3` seconds, at most `$2` of them failing; or the webhook `$4` whether it is due or
 * not. Returns none while another claim runs.
 */
export const claimWebhooks = {
  name: 'claim_webhooks',
  text: `select ${claimed} from claim_webhooks($1, $2, $3, $4::bigint)`,
};

/** Without a wait for the disk: what a crash of the database undoes only repeats messages. */
const withoutWait = `set_config('synchronous_commit', 'off', true)`;

/** Extends leases by `$1` seconds: those of the providers `$2` with the tokens `$3`. */
export const renewLeases = {
  name: 'renew_webhook_leases',
  text: 'select renew_webhook_leases($1, $2, $3)',
};

/** Adds the attempt of the row in `changed` to the log, from parameters that begin at `$first`. */
const log = (first: number) => `insert into webhook_deliveries
      (provider_id, webhook_id, slot, number, message_id, type, status_code, duration_ms, error, at)
    select provider_id, id, attempt_count % ${loggedAttempts}, attempt_count,
      $${first}, $${first + 1}, $${first + 2}::int, $${first + 3}::int, $${first + 4},
      now() - $${first + 3}::int * interval '1 millisecond'
    from changed
    on conflict (provider_id, webhook_id, slot) do update set number = excluded.number, at = excluded.at,
      message_id = excluded.message_id, type = excluded.type, status_code = excluded.status_code,
      duration_ms = excluded.duration_ms, error = excluded.error`;
/** The webhook `$2` of the provider `$1`, while it has the lease with the token `$3`. */
const isOwn = 'provider_id = $1 and id = $2 and leased_by = $3';
const counted = 'attempt_count = attempt_count + 1';

/** Moves the position after a success. Returns nothing if the lease was lost. */
export const markDelivered = {
  name: 'mark_webhook_delivered',
  text: `with changed as (
      update webhooks set position = $4, position_clock = $5, resyncs = $6::text[], attempts = 0, failing_since = null,
        ${counted}
      where ${isOwn} returning *),
    logged as (${log(7)})
    select updated_at::text as "updatedAt", is_active as "isActive", ${withoutWait} from changed`,
};

/** Ends the lease after a failure. The next attempt is in `$4` seconds, or now if the settings have changed since `$5`. */
export const markFailed = {
  name: 'mark_webhook_failed',
  text: `with changed as (
      update webhooks set attempts = attempts + 1, failing_since = least(failing_since, now()),
        due_at = now() + case when updated_at = $5::timestamptz then $4::float8 else 0 end * interval '1 second',
        leased_by = null, leased_until = null, ${counted}
      where ${isOwn} returning *),
    logged as (${log(6)})
    select from changed`,
};

/** Moves the position without a message. */
export const movePosition = {
  name: 'move_webhook_position',
  text: `update webhooks set position = $4, position_clock = $5, resyncs = $6::text[] where ${isOwn} returning id`,
};

/** Ends the lease. The next turn follows those of webhooks that have waited longer. */
export const releaseWebhook = {
  name: 'release_webhook',
  text: `with released as (
      update webhooks set due_at = now() + $4 * interval '1 second', leased_by = null, leased_until = null
      where ${isOwn} returning id)
    select ${withoutWait} from released`,
};

/** Ends the lease of a test and logs it; the delivery state stays. */
export const logTest = {
  name: 'log_webhook_test',
  text: `with changed as (
      update webhooks set leased_by = null, leased_until = null, ${counted} where ${isOwn} returning *)
    ${log(4)} returning at::text as at`,
};
