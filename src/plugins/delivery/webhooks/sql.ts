import { loggedAttempts } from '../../../database/tables/webhooks.ts';

/** Seconds until a lease that is not renewed ends. */
export const leaseSeconds = 2;

/** An attempt that takes longer is slow. */
const slowAttemptMs = 5_000;

const claimed = `provider_id as "providerId", id, leased_by as token, url, types, payload, secret,
  case when previous_secret_expires_at > now() then previous_secret end as "previousSecret",
  position, position_clock as "positionClock", resyncs, attempts, updated_at::text as "updatedAt",
  coalesce(extract(epoch from now() - failing_since), 0)::float8 as "failingSeconds"`;

/**
 * Leases due webhooks for `$4` seconds: up to `$1`, of which at most `$2` are failing, and up to `$3` slow ones. Returns
 * none while another claim runs.
 */
export const claimWebhooks = {
  name: 'claim_webhooks',
  text: `select ${claimed}, failing_since is not null as "isFailing", slow_attempts >= 3 as "isSlow"
    from claim_webhooks($1::int, $2::int, $3::int, $4::int)`,
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
/** A slow receiver has to be quick as often as it was slow, four times at most, until it is not slow any more. */
const counted = (first: number) => `attempt_count = attempt_count + 1,
        slow_attempts = case when $${first + 3}::int > ${slowAttemptMs} then least(slow_attempts + 1, 6)
          else greatest(slow_attempts - 1, 0) end`;

/** Moves the position after a success. Returns nothing if the lease was lost. */
export const markDelivered = {
  name: 'mark_webhook_delivered',
  text: `with changed as (
      update webhooks set position = $4, position_clock = $5, resyncs = $6::text[], attempts = 0, failing_since = null,
        ${counted(7)}
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
        leased_by = null, leased_until = null, ${counted(6)}
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

/** Logs a test; the delivery state stays. Returns nothing if the webhook does not exist. */
export const logTest = {
  name: 'log_webhook_test',
  text: `with changed as (
      update webhooks set attempt_count = attempt_count + 1 where provider_id = $1 and id = $2 returning *)
    ${log(3)} returning at::text as at`,
};

/**
 * Begins a test of the school `$1` with the token `$2`, for at most `$3` seconds. Returns nothing while another one runs.
 * An expiry after the latest possible one means that the clock has gone back.
 */
export const beginTest = {
  name: 'begin_webhook_test',
  text: `insert into webhook_tests as t (provider_id, token, started_at, expires_at)
    values ($1, $2, now(), now() + $3::int * interval '1 second')
    on conflict (provider_id) do update
      set token = excluded.token, started_at = excluded.started_at, expires_at = excluded.expires_at
      where t.expires_at <= excluded.started_at or t.expires_at > excluded.expires_at
    returning token`,
};

export const endTest = {
  name: 'end_webhook_test',
  text: 'delete from webhook_tests where provider_id = $1 and token = $2',
};
