import type { PoolClient } from 'pg';

/** Takes a lock as the first statement of a transaction, and tells the clock that the transaction's rows are stamped with. */
export type Lock = (client: PoolClient) => Promise<string>;

type Instant = { at: string };
/** Of a row of `api_keys`, as SQL: whether it opens its provider. */
export const opensSql = (key: string) =>
  `${key}.revoked_at is null and (${key}.expires_at is null or ${key}.expires_at > now())`;

const later = "greatest(clock_timestamp(), changed_at + interval '1 microsecond')";

/**
 * The rows of `provider_state`, in ascending order whatever order they are named in, all set to one instant.
 * A statement of its own: folded into a writing one, ids would not follow commit order.
 */
export const lockProviders =
  (providerIds: number[]): Lock =>
  async (client) => {
    const { rows } = await client.query<Instant>(
      providerIds.length === 1 ? lockOne(providerIds) : lockSeveral(providerIds),
    );
    if (rows.length !== providerIds.length) throw new Error('a provider without its row in provider_state');
    return rows[0]!.at;
  };

const lockOne = (values: number[]) => ({
  name: 'lock_provider',
  text: `update provider_state set changed_at = ${later} where provider_id = $1 returning changed_at::text as at`,
  values,
});

const lockSeveral = (providerIds: number[]) => ({
  text: `with locked as materialized
      (select provider_id, changed_at from provider_state where provider_id = any($1) order by provider_id for no key update),
    clock as materialized
      (select greatest(clock_timestamp(), max(changed_at) + interval '1 microsecond') as at from locked)
    update provider_state s set changed_at = clock.at from locked, clock
    where s.provider_id = locked.provider_id returning s.changed_at::text as at`,
  values: [providerIds],
});

/** The one row for what all providers share. */
export const lockShared: Lock = async (client) => {
  const { rows } = await client.query<Instant>(
    `update service_state set changed_at = ${later} returning changed_at::text as at`,
  );
  if (!rows[0]) throw new Error('service_state has no row');
  return rows[0].at;
};

/** For a provider that does not exist yet (inserting its row is its lock), and for the negative control of race tests. */
export const noLock: Lock = async (client) => {
  const { rows } = await client.query<Instant>(`select clock_timestamp()::text as at`);
  return rows[0]!.at;
};
