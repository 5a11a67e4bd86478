import { json, statement, typed, typedOrNull, type RowOf } from '../../../database/statement.ts';
import { loggedAttempts } from '../../../database/tables/webhooks.ts';

// Text: a function, and updates by whose row an attempt is logged, of each message.

/** Seconds until a lease that is not renewed ends. */
export const leaseSeconds = 2;

/** An attempt that takes longer is slow. */
const slowAttemptMs = 5_000;

/** Leases up to `slots` due webhooks, at most `failing` and `slow` ones of them; none while another claim runs. */
export const claimWebhooks = statement(
  'claim_webhooks',
  {
    takes: { slots: 'int', failing: 'int', slow: 'int', seconds: 'int' },
    returns: {
      providerId: 'int',
      id: 'int',
      /** The lease's. */
      token: 'text',
      url: 'text',
      types: typedOrNull<string[]>('json'),
      payload: typed<'full' | 'thin'>('text'),
      secret: 'text',
      previousSecret: 'text?',
      position: 'int',
      positionClock: 'int',
      resyncs: json<string[]>(),
      /** Failures since the last success. */
      attempts: 'int',
      updatedAt: 'moment',
      failingSeconds: 'float',
      isFailing: 'bool',
      /** Uses a place for slow endpoints. */
      isSlow: 'bool',
    },
    acrossSchools: 'the webhooks of all schools share the places',
  },
  `select provider_id as "providerId", id, leased_by as token, url, to_json(types) as types, payload, secret,
    case when previous_secret_expires_at > now() then previous_secret end as "previousSecret",
    position, position_clock as "positionClock", to_json(resyncs) as resyncs, attempts, updated_at::text as "updatedAt",
    coalesce(extract(epoch from now() - failing_since), 0)::float8 as "failingSeconds",
    failing_since is not null as "isFailing", slow_attempts >= 3 as "isSlow"
  from claim_webhooks(:slots::int, :failing::int, :slow::int, :seconds::int)`,
);
/** A webhook whose lease this process holds. */
export type ClaimedWebhook = RowOf<typeof claimWebhooks>;

/** Does not wait for the disk: what a crash of the database undoes only repeats messages. */
const withoutWait = `set_config('synchronous_commit', 'off', true) as setting`;

const attempt = {
  messageId: 'text',
  type: 'text',
  statusCode: 'int?',
  durationMs: 'int',
  error: 'text?',
} as const;
/** Adds the attempt of the row in `changed` to the log. */
const log = `insert into webhook_deliveries
      (provider_id, webhook_id, slot, number, message_id, type, status_code, duration_ms, error, at)
    select provider_id, id, attempt_count % ${loggedAttempts}, attempt_count,
      :messageId, :type, :statusCode::int, :durationMs::int, :error, now() - :durationMs::int * interval '1 millisecond'
    from changed
    on conflict (provider_id, webhook_id, slot) do update set number = excluded.number, at = excluded.at,
      message_id = excluded.message_id, type = excluded.type, status_code = excluded.status_code,
      duration_ms = excluded.duration_ms, error = excluded.error`;
const lease = { providerId: 'int', id: 'int', token: 'text' } as const;
const isOwn = 'provider_id = :providerId and id = :id and leased_by = :token';
/** A slow receiver has to be quick as often as it was slow, four times at most, until it is not slow any more. */
const counted = `attempt_count = attempt_count + 1,
        slow_attempts = case when :durationMs::int > ${slowAttemptMs} then least(slow_attempts + 1, 6)
          else greatest(slow_attempts - 1, 0) end`;

/** Moves the position after a success. Returns nothing if the lease was lost. */
export const markDelivered = statement(
  'mark_webhook_delivered',
  {
    takes: { ...lease, position: 'int', positionClock: 'int', resyncs: 'text[]', ...attempt },
    returns: { updatedAt: 'moment', isActive: 'bool', setting: 'text' },
  },
  `with changed as (
      update webhooks set position = :position, position_clock = :positionClock, resyncs = array :resyncs,
        attempts = 0, failing_since = null, ${counted}
      where ${isOwn} returning *),
    logged as (${log})
    select updated_at::text as "updatedAt", is_active as "isActive", ${withoutWait} from changed`,
);

/** Ends the lease after a failure. The next attempt is after the pause, or now if the settings have changed since. */
export const markFailed = statement(
  'mark_webhook_failed',
  { takes: { ...lease, pause: 'float', updatedAt: 'moment', ...attempt } },
  `with changed as (
      update webhooks set attempts = attempts + 1, failing_since = least(failing_since, now()),
        due_at = now() + case when updated_at = :updatedAt::timestamptz then :pause::float8 else 0 end * interval '1 second',
        leased_by = null, leased_until = null, ${counted}
      where ${isOwn} returning *)
    ${log}`,
);

/** Ends the lease. The next turn follows those of webhooks that have waited longer. */
export const releaseWebhook = statement(
  'release_webhook',
  { takes: { ...lease, pause: 'float' }, returns: { setting: 'text' } },
  `with released as (
      update webhooks set due_at = now() + :pause * interval '1 second', leased_by = null, leased_until = null
      where ${isOwn} returning id)
    select ${withoutWait} from released`,
);

/** Logs a test; the delivery state stays. Returns nothing if the webhook does not exist. */
export const logTest = statement(
  'log_webhook_test',
  { takes: { providerId: 'int', id: 'int', ...attempt }, returns: { at: 'moment' } },
  `with changed as (
      update webhooks set attempt_count = attempt_count + 1 where provider_id = :providerId and id = :id returning *)
    ${log} returning at::text as at`,
);
