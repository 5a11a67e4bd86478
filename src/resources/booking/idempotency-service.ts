import { createHash } from 'node:crypto';
import type { Ctx } from '../../database/context.ts';
import type { Tx } from '../../database/client.ts';
import { execute } from '../../database/statements.ts';
import { currentTimeSql } from '../../database/tables/columns.ts';

/** An `Idempotency-Key` and its request, both hashed. */
type RequestKey = { keyHash: string; fingerprint: string };

const hash = (text: string) => createHash('sha256').update(text).digest('base64url');

/** The parsed request: method, route, path ids and body, whatever its content type. */
export type KeyedRequest = { key: string; request: object };
export const toRequestKey = ({ key, request }: KeyedRequest): RequestKey => ({
  keyHash: hash(key),
  fingerprint: hash(JSON.stringify(request, (_name, value: unknown) => comparable(value))),
});

/** An unreadable value is a symbol, which `JSON.stringify` would omit. */
const comparable = (value: unknown) => (typeof value === 'symbol' ? null : isObject(value) ? sortKeys(value) : value);

const isObject = (value: unknown): value is object =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const sortKeys = (object: object) => Object.fromEntries(Object.entries(object).sort(([a], [b]) => (a < b ? -1 : 1)));

const findRecord = {
  name: 'find_idempotency_record',
  text: `select fingerprint, answer from idempotency_records
    where provider_id = $1 and key_hash = $2 and expires_at > ${currentTimeSql}`,
};

/** Replaces an expired record. */
const storeRecord = {
  name: 'store_idempotency_record',
  text: `insert into idempotency_records (provider_id, key_hash, fingerprint, booking_id, answer, created_at, expires_at)
    values ($1, $2, $3, $4, $5, $6, ${currentTimeSql} + interval '24 hours')
    on conflict (provider_id, key_hash) do update set fingerprint = excluded.fingerprint, booking_id = excluded.booking_id,
      answer = excluded.answer, created_at = excluded.created_at, expires_at = excluded.expires_at`,
};

/** The response to this key within 24 hours. Call under the lock, so that a concurrent request has finished. */
export async function findStoredResponse({ providerId }: Ctx, tx: Tx, { keyHash, fingerprint }: RequestKey) {
  type StoredRecord = { fingerprint: string; answer: unknown };
  const [record] = await execute<StoredRecord>(tx, findRecord, [providerId, keyHash]);
  return record && { isSame: record.fingerprint === fingerprint, response: record.answer };
}

/** Stores the response to a booking, which holds no personal data. */
export const storeResponse = (
  { providerId }: Ctx,
  tx: Tx,
  now: string,
  { keyHash, fingerprint }: RequestKey,
  { bookingId, response }: { bookingId: number; response: object },
) => execute(tx, storeRecord, [providerId, keyHash, fingerprint, bookingId, JSON.stringify(response), now]);
