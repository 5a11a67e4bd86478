import type { PoolClient } from 'pg';

/** Takes a lock as the first statement of a transaction, and tells the clock that the transaction's rows are stamped with. */
export type Lock = (client: PoolClient) => Promise<string>;

type Instant = { at: string };
const lockedAtName = 'booking.locked_at';
const setLockedAt = (instant: string) => `set_config('${lockedAtName}', ${instant}::text, true) as at`;
/** The same clock for a statement that is sent before it is heard. An error where the transaction has taken no lock. */
export const lockedAt = `current_setting('${lockedAtName}')::timestamptz`;

/** The key that somebody came with, and what is stored of it: it opens its provider still, or there is no lock. */
export type LockKey = { id: number; hash: string };
/** The key opens nothing any more, or is not the one that it was. */
export class KeyRefused extends Error {}

/** Of a row of `api_keys`, as SQL: whether it opens its provider. */
export const opensSql = (key: string) =>
  `${key}.revoked_at is null and (${key}.expires_at is null or ${key}.expires_at > now())`;

const later = "greatest(clock_timestamp(), changed_at + interval '1 microsecond')";

/**
 * The rows of `provider_state`, in ascending order whatever order they are named in, all set to one instant.
 * A statement of its own: folded into a writing one, ids would not follow commit order.
 */
export const lockProviders =
  (providerIds: number[], key?: LockKey): Lock =>
  async (client) => {
    const { rows } = await client.query<Instant>(lockingOf(providerIds, key));
    if (key && rows.length === 0) throw new KeyRefused('the key opens nothing any more');
    if (rows.length !== providerIds.length) throw new Error('a provider without its row in provider_state');
    return rows[0]!.at;
  };

function lockingOf(providerIds: number[], key: LockKey | undefined) {
  if (!key) return providerIds.length === 1 ? lockOne(providerIds) : lockSeveral(providerIds);
  if (providerIds.length !== 1) throw new Error('a key opens one provider');
  return lockByKey(providerIds, key);
}

const lockOne = (values: number[]) => ({
  name: 'lock_provider',
  text: `update provider_state set changed_at = ${later} where provider_id = $1 returning ${setLockedAt('changed_at')}`,
  values,
});

const lockByKey = ([providerId]: number[], { id, hash }: LockKey) => ({
  name: 'lock_provider_by_key',
  text: `update provider_state p set changed_at = ${later} where provider_id = $1 and exists
      (select from api_keys k where k.provider_id = p.provider_id and k.id = $2 and k.hash = $3 and ${opensSql('k')})
    returning ${setLockedAt('changed_at')}`,
  values: [providerId, id, hash],
});

const lockSeveral = (providerIds: number[]) => ({
  text: `with locked as materialized
      (select provider_id, changed_at from provider_state where provider_id = any($1) order by provider_id for no key update),
    clock as materialized
      (select greatest(clock_timestamp(), max(changed_at) + interval '1 microsecond') as at from locked)
    update provider_state s set changed_at = clock.at from locked, clock
    where s.provider_id = locked.provider_id returning ${setLockedAt('s.changed_at')}`,
  values: [providerIds],
});

/** The one row for what all providers share. */
export const lockShared: Lock = async (client) => {
  const { rows } = await client.query<Instant>(
    `update service_state set changed_at = ${later} returning ${setLockedAt('changed_at')}`,
  );
  if (!rows[0]) throw new Error('service_state has no row');
  return rows[0].at;
};

/** For a provider that does not exist yet (inserting its row is its lock), and for the negative control of race tests. */
export const noLock: Lock = async (client) => {
  const { rows } = await client.query<Instant>(`select ${setLockedAt('clock_timestamp()')}`);
  return rows[0]!.at;
};
