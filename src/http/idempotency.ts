import { Type, type TSchema } from '@sinclair/typebox';
import type { FastifyInstance, FastifyReply, FastifyRequest, FastifySchema, RouteOptions } from 'fastify';
import { createHash } from 'node:crypto';
import { Problem } from '../core/errors.ts';
import type { Ctx, WriteCtx } from '../database/context.ts';
import { json, statement, typedOrNull, type RowOf } from '../database/statement.ts';
import type { Queryable } from '../database/statements.ts';
import { currentTimeSql } from '../database/tables/columns.ts';
import { isDryRun } from '../core/schema/dry-run.ts';
import { findAccess } from '../core/schema/types.ts';
import { nameIgnored } from './parsing/known-fields.ts';
import { prefersStrict } from './parsing/strict-handling.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Set for each POST that creates: a request with the `Idempotency-Key` of an equal one gets its response again. */
    idempotency?: Idempotency;
  }
}

type Idempotency = {
  /** Routes that share their keys, and report an invalid one with their other errors. Others have keys of their own. */
  space?: 'booking';
  /** True if the response has personal data; follows from its schema. */
  hasCourseUser?: boolean;
};

/** True if a member of a response is declared as personal: the erasure of a person searches what is stored of it. */
export const isPersonal = (schema: unknown): boolean =>
  typeof schema === 'object' &&
  schema !== null &&
  (findAccess(schema as TSchema)?.data === 'personal' || Object.values(schema).some(isPersonal));
const isPersonalRoute = ({ response }: FastifySchema) =>
  Object.entries(response as object).some(([status, schema]) => status.startsWith('2') && isPersonal(schema));

type Work<T> = (w: WriteCtx) => Promise<T>;

/** Names a key that is ignored, refuses one that is not valid, and documents it. After the coercion of requests. */
export function checkIdempotencyKeys(app: FastifyInstance) {
  app.addHook('onRoute', documentKey);
  app.addHook('preValidation', (request, reply, done) => {
    const { idempotency } = request.routeOptions.config;
    if (ignoresKey(request)) {
      if (!prefersStrict(request)) nameIgnored(reply, [keyHeader]);
    } else if (idempotency && !idempotency.space && !isValidKey(request.headers['idempotency-key']))
      throw Problem.invalidFields({ notValid: [keyHeader] });
    done();
  });
}

export const isValidKey = (key: string | string[] | undefined) =>
  key === undefined || (key.length >= 1 && key.length <= 255);

const description =
  'For 24 hours the same request with the same key gets the first response again, and nothing more is written; ' +
  'another request with the key is refused.';

function documentKey(route: RouteOptions) {
  const { idempotency } = route.config ?? {};
  if (!idempotency) return;
  route.config = { ...route.config, idempotency: { ...idempotency, hasCourseUser: isPersonalRoute(route.schema!) } };
  if (route.schema?.headers) return;
  const headers = Type.Object({ 'idempotency-key': Type.Optional(Type.String({ description })) });
  route.schema = { ...route.schema, headers };
}

const takesKey = (request: FastifyRequest) =>
  request.routeOptions.config.idempotency !== undefined && !isDryRun(request);

export const keyHeader = 'Idempotency-Key';

/** True for a POST whose key has no effect. */
export const ignoresKey = (request: FastifyRequest) =>
  request.headers['idempotency-key'] !== undefined && request.method === 'POST' && !takesKey(request);

/**
 * Stores the result of a write in its own transaction if the request has a key, and returns it for each repetition. The
 * result is the whole response, so that a repeated one is equal. A PUT stores nothing: its key must be unused.
 */
export function withIdempotency<T>(request: FastifyRequest, reply: FastifyReply, work: Work<T>): Work<T> {
  const { ctx, method, params, body, routeOptions } = request;
  const key = request.headers['idempotency-key'];
  if (key === undefined || !takesKey(request)) return work;
  const { space, hasCourseUser = true } = routeOptions.config.idempotency!;
  const keyed = { method, route: routeOptions.url!, params, body, key: String(key), isShared: space !== undefined };
  const options = { hasCourseUser, onReplay: () => reply.header('idempotent-replayed', 'true') };
  return withKey(ctx, keyed, options, work);
}

/** `withIdempotency` for a part of a request, as if it were a request of its own. */
export function withKey<T>(
  { providerId }: Pick<Ctx, 'providerId'>,
  request: KeyedRequest,
  { hasCourseUser, onReplay }: { hasCourseUser: boolean; onReplay: () => void },
  work: Work<T>,
): Work<T> {
  const hashes = toHashes(request);
  return async (w) => {
    const { tx, now } = w;
    // Under the lock, so that a concurrent request with the key has finished.
    const record = await findAnswer(tx, providerId, hashes, onReplay);
    if (record) return tx.rollBack(record.answer as T);
    const result = await work(w);
    // More slices follow a write without a result; the last one is stored.
    const isStored = tx.affected.changed && result !== undefined && request.method === 'POST';
    if (isStored) await storeRecord(tx, { providerId, ...hashes, answer: result, hasCourseUser, now });
    return result;
  };
}

/** `withKey` for a request that is not made; `known` has the answers of those before it. */
export async function tryWithKey<T>(
  { providerId, unlockedStore }: Pick<Ctx, 'providerId' | 'unlockedStore'>,
  request: KeyedRequest,
  known: Map<string, KeyedAnswer>,
  onReplay: () => void,
  work: () => Promise<T>,
): Promise<T> {
  const { keyHash, fingerprint } = toHashes(request);
  const record = await findAnswer(unlockedStore, providerId, { keyHash, fingerprint }, onReplay, known);
  if (record) return record.answer as T;
  const answer = await work();
  known.set(keyHash, { fingerprint, answer });
  return answer;
}

// Text: many writes wait for these.
const findRecord = statement(
  'find_idempotency_record',
  {
    takes: { providerId: 'int', keyHash: 'text' },
    /** `answer` is null once it is erased. */
    returns: { fingerprint: 'text', answer: typedOrNull<unknown>('json') },
  },
  `select fingerprint, answer from idempotency_records
    where provider_id = :providerId and key_hash = :keyHash and expires_at > ${currentTimeSql}`,
);
export type KeyedAnswer = RowOf<typeof findRecord>;

/** Replaces an expired record. */
const storeRecord = statement(
  'store_idempotency_record',
  {
    takes: {
      providerId: 'int',
      keyHash: 'text',
      fingerprint: 'text',
      answer: json<unknown>(),
      hasCourseUser: 'bool',
      now: 'moment',
    },
  },
  `insert into idempotency_records
      (provider_id, key_hash, fingerprint, answer, has_course_user, created_at, expires_at)
    values (:providerId, :keyHash, :fingerprint, :answer, :hasCourseUser, :now,
      ${currentTimeSql} + interval '24 hours')
    on conflict (provider_id, key_hash) do update set fingerprint = excluded.fingerprint, booking_id = null,
      answer = excluded.answer, has_course_user = excluded.has_course_user, created_at = excluded.created_at,
      expires_at = excluded.expires_at`,
);

/** The first response to an equal request; undefined for a new key. */
async function findAnswer(
  on: Queryable,
  providerId: number,
  { keyHash, fingerprint }: ReturnType<typeof toHashes>,
  onReplay: () => void,
  known?: Map<string, KeyedAnswer>,
) {
  const [stored] = await findRecord(on, { providerId, keyHash });
  const record = stored ?? known?.get(keyHash);
  if (record === undefined) return undefined;
  if (record.fingerprint !== fingerprint) throw keyReused();
  if (record.answer === null) throw responseErased();
  onReplay();
  return record;
}

const keyReused = () => Problem.coded('idempotency_key_reused', 'The Idempotency-Key was used with another request');

const responseErased = () =>
  Problem.coded('response_erased', 'The request was carried out, and its response was erased with a person');

type KeyedRequest = {
  method: string;
  route: string;
  params: unknown;
  body: unknown;
  key: string;
  /** True if other routes share the key. */
  isShared: boolean;
};

/** The key and the parsed request, both hashed: method, route, path ids and body, whatever its content type. */
function toHashes({ key, isShared, ...request }: KeyedRequest) {
  const space = isShared ? '' : `${request.method} ${request.route}\n`;
  return {
    keyHash: hash(`${space}${key}`),
    fingerprint: hash(JSON.stringify(request, (_name, value: unknown) => comparable(value))),
  };
}

const hash = (text: string) => createHash('sha256').update(text).digest('base64url');

/** An unreadable value is a symbol, which `JSON.stringify` would omit. */
const comparable = (value: unknown) => (typeof value === 'symbol' ? null : isObject(value) ? sortKeys(value) : value);

const isObject = (value: unknown): value is object =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const sortKeys = (object: object) => Object.fromEntries(Object.entries(object).sort(([a], [b]) => (a < b ? -1 : 1)));
