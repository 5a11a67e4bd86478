import { createHash } from 'node:crypto';
import type { Ctx } from '../../core/context.ts';
import type { Tx } from '../../database/client.ts';
import { execute } from '../../database/statements.ts';
import { realClock } from '../../database/tables/columns.ts';

/** An `Idempotency-Key` and what was asked with it, both hashed. */
export type RequestKey = { keyHash: string; fingerprint: string };

const hash = (text: string) => createHash('sha256').update(text).digest('base64url');

/** `asked` is the request as it was read: method, route, path ids and body, whatever dialect the body came in. */
export type AskedWithKey = { key: string; requested: object };
export const requestKey = ({ key, requested }: AskedWithKey): RequestKey => ({
  keyHash: hash(key),
  fingerprint: hash(JSON.stringify(requested, (_name, value: unknown) => comparable(value))),
});

/** What could not be read is left as a symbol, and `JSON.stringify` would take it for a field that was not sent. */
const comparable = (value: unknown) => (typeof value === 'symbol' ? null : isFields(value) ? inOrder(value) : value);

const isFields = (value: unknown): value is object =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const inOrder = (fields: object) => Object.fromEntries(Object.entries(fields).sort(([a], [b]) => (a < b ? -1 : 1)));

export const findRecord = {
  name: 'find_idempotency_record',
  text: `select fingerprint, answer from idempotency_records
    where provider_id = $1 and key_hash = $2 and expires_at > ${realClock}`,
};

/** Writes over one that has expired, and clears away the provider's others that have. */
export const storeRecord = {
  name: 'keep_idempotency_record',
  text: `with gone as (delete from idempotency_records where provider_id = $1 and expires_at <= ${realClock} and key_hash <> $2)
    insert into idempotency_records (provider_id, key_hash, fingerprint, booking_id, answer, created_at, expires_at)
    values ($1, $2, $3, $4, $5, $6, ${realClock} + interval '24 hours')
    on conflict (provider_id, key_hash) do update set fingerprint = excluded.fingerprint, booking_id = excluded.booking_id,
      answer = excluded.answer, created_at = excluded.created_at, expires_at = excluded.expires_at`,
};

/** What was answered to this key within 24 hours, and whether to the same request. Under the lock, so that a second request has waited for the first. */
export async function findStoredResponse({ providerId }: Ctx, tx: Tx, { keyHash, fingerprint }: RequestKey) {
  type Kept = { fingerprint: string; answer: unknown };
  const [stored] = await execute<Kept>(tx, findRecord, [providerId, keyHash]);
  return stored && { isSame: stored.fingerprint === fingerprint, answer: stored.answer };
}

/** Keeps the answer of a booking that was made; it holds no names. */
export const storeResponse = (
  { providerId }: Ctx,
  tx: Tx,
  now: string,
  { keyHash, fingerprint }: RequestKey,
  { bookingId, answer }: { bookingId: number; answer: object },
) => execute(tx, storeRecord, [providerId, keyHash, fingerprint, bookingId, JSON.stringify(answer), now]);
