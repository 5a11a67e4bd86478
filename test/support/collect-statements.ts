import { AsyncLocalStorage } from 'node:async_hooks';
import { appendFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import type { FastifyInstance } from 'fastify';
import { Client, type Pool, type QueryResult } from 'pg';
import { expect, inject } from 'vitest';
import { refuseUndeclaredNulls } from './declared-rows.ts';

/** A statement that a test made the service send, and the file of the first such test. */
export type CollectedStatement = { text: string; file: string };

type Query = (this: unknown, statement: string | { text?: string; name?: string }, ...rest: unknown[]) => unknown;
type Queryable = { query: Query };

const root = join(import.meta.dirname, '../..');
const collected = new AsyncLocalStorage<true>();
const seen = new Set<string>();

/** Collects the statements of this work; others, such as those of tests and workers beside it, are left out. */
export const collectDuring = <T>(work: () => PromiseLike<T>) => collected.run(true, async () => await work());

/** Collects the statements of all requests to an app, in this process or by a socket. */
export function collectFromRequests(app: FastifyInstance) {
  // The scenarios of reliability run without Vitest, which knows the file of a test.
  if (process.env['VITEST'] === undefined) return;
  const send = app.inject.bind(app) as (...args: unknown[]) => PromiseLike<unknown>;
  const collect = (...args: unknown[]) => (args.length === 1 ? collectDuring(() => send(...args)) : send(...args));
  Object.defineProperty(app, 'inject', { value: collect });
  // Before the listener of the app, which continues in this context.
  app.server.prependListener('request', () => collected.enterWith(true));
}

/** Collects from a pool that batches: a batch is sent in the context of its first statement. */
export function collectFromPool(pool: Pick<Pool, 'query'>) {
  const queryable = pool as unknown as Queryable;
  const { query } = queryable;
  queryable.query = (statement, ...rest) => {
    add(statement);
    return collected.exit(() => query(statement, ...rest));
  };
}

const prototype = Client.prototype as unknown as Queryable;
const { query } = prototype;
prototype.query = function collect(statement, ...rest) {
  add(statement);
  const result = query.call(this, statement, ...rest);
  if (typeof statement === 'string' || !(result instanceof Promise)) return result;
  return (result as Promise<QueryResult<Record<string, unknown>>>).then((found) => {
    refuseUndeclaredNulls(statement.name, found);
    return found;
  });
};

function add(statement: Parameters<Query>[0]) {
  if (!collected.getStore()) return;
  const text = typeof statement === 'string' ? statement : statement.text;
  if (text === undefined || seen.has(text)) return;
  seen.add(text);
  const form = toForm(text);
  if (seen.has(form)) return;
  seen.add(form);
  const one: CollectedStatement = { text, file: relative(root, expect.getState().testPath ?? root) };
  appendFileSync(join(inject('statements'), `${process.pid}.ndjson`), `${JSON.stringify(one)}\n`);
}

/** A statement without the numbers and the number of its parameters, so that one of each list of values is collected. */
const toForm = (text: string) =>
  text
    .replaceAll(/\$\d+/g, '$')
    .replaceAll(/\$(, ?\$)+/g, '$, …')
    .replaceAll(/(\([^()]*\))(, ?\1)+/g, '$1, …');
