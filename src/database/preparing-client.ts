import { Client, type Connection, type Pool } from 'pg';
import { getErrorCode, isPreparedStatementError } from '../core/database-errors.ts';
import { hashedName } from './statements.ts';

/** The query builder requests rows as arrays. */
type Statement = string | { text: string; name?: string | undefined; rowMode?: string; origin?: Origin };
type Query = (this: Client, statement: Statement, ...rest: unknown[]) => unknown;

/** The provider and the request that a statement is for. */
export type Origin = { provider: number; reqId?: string };

/** Never contains parameters or constants of the statement. */
export type SlowStatement = { statement: string; ms: number } & Partial<Origin>;

/** A client that sends its statements with their origin. */
export const sendWithOrigin = (client: Pick<Pool, 'query'>, origin: Origin): Pick<Pool, 'query'> => ({
  query: ((statement: Statement, ...rest: unknown[]) => {
    const config = typeof statement === 'string' ? { text: statement, name: undefined, rowMode: undefined } : statement;
    return (client.query as unknown as (...args: unknown[]) => unknown)({ ...config, origin }, ...rest);
  }) as Pool['query'],
});

type ClientOptions = {
  /** Called once when a pooler turns out to lose prepared statements; statements have no names from then on. */
  onUnprepared?: (() => void) | undefined;
  onSlowStatement: (statement: SlowStatement) => void;
};

const slowMs = 500;

/** PostgreSQL refuses a statement with it after an error of the transaction. */
const inFailedTransaction = '25P02';

/** Bounds the memory of a connection against texts that vary without end. */
const maxNames = 500;

/** A pooler loses prepared statements if these cause the first error of this number of connections within a minute. */
const maxErrors = 3;

/** Counts the connections that a pooler breaks; calls `stop` once when they are too many. */
function errorCounter(stop: () => void) {
  const failed = new WeakSet<Client>();
  let errors: number[] = [];
  return (client: Client, error: unknown) => {
    if (failed.has(client)) return;
    failed.add(client);
    if (!isPreparedStatementError(error)) return;
    const now = performance.now();
    errors = [...errors.filter((time) => now - time < 60_000), now];
    if (errors.length === maxErrors) stop();
  };
}

/** One result of each statement of a text; the command is null until the server has completed it. */
type Found = { command: string | null } | unknown[];

/** True if the connection is ahead or behind: the results of pipelined statements are matched by their order alone. */
const isOfAnother = (text: string, found: Found) =>
  Array.isArray(found) ? !text.includes(';') : found.command === null && text.trim() !== '';

function refuseOfAnother(client: { connection: Connection; isOutOfStep: boolean }, text: string, found: Found) {
  client.isOutOfStep ||= isOfAnother(text, found);
  if (!client.isOutOfStep) return;
  client.connection.stream.destroy();
  throw new Error('Connection terminated: a statement got the result of another one');
}

const toText = (statement: Statement) => (typeof statement === 'string' ? statement : statement.text);

/** Names a text from its second use on: planning a text that is sent once would gain nothing. */
function statementNamer() {
  const seen = new Set<string>();
  const names = new Map<string, string>();
  return function getName(text: string): string | undefined {
    const known = names.get(text);
    if (known !== undefined || names.size >= maxNames) return known;
    if (!seen.has(text)) {
      if (seen.size >= maxNames) seen.clear();
      seen.add(text);
      return undefined;
    }
    seen.delete(text);
    const name = hashedName('q_', text);
    names.set(text, name);
    return name;
  };
}

/** The name of a statement; without one of its own, its verb and first table with a name derived from its text. */
function describeStatement(statement: Statement) {
  const { text, name, rowMode } =
    typeof statement === 'string' ? { text: statement, name: undefined, rowMode: undefined } : statement;
  if (name !== undefined && rowMode !== 'array') return name;
  const [, verb = ''] = /^\s*([a-z]+)/i.exec(text) ?? [];
  const [, table = ''] = /\b(?:from|into|update)\s+(?:only\s+)?"?([a-z_]+)/i.exec(text) ?? [];
  return [verb.toLowerCase(), table, `(${name ?? hashedName('q_', text)})`].filter(Boolean).join(' ');
}

/** A driver's client that prepares the statements of the query builder and those with a name of their own. */
export function preparingClient(options: ClientOptions): typeof Client {
  let prepare = true;
  const getName = statementNamer();
  const countError = errorCounter(() => {
    prepare = false;
    options.onUnprepared?.();
  });
  const named = (statement: Statement): Statement => {
    if (typeof statement === 'string' || (prepare && statement.name !== undefined)) return statement;
    // Other statements name themselves or have a reason not to. The text of an insert varies with the fields sent.
    const isNamed = prepare && statement.rowMode === 'array' && !statement.text.startsWith('insert');
    const name = isNamed ? getName(statement.text) : undefined;
    return { ...statement, name };
  };
  class PreparingClient extends Client {
    declare readonly connection: Connection;
    isOutOfStep = false;
    /** When the latest result arrived: the statements of one connection run one after another. */
    lastResultAt = 0;
    /** That of the transaction in progress. */
    origin: Origin | undefined;
    /** The error that aborted the transaction in progress. */
    failure: unknown;
  }
  /** Pipelined statements behind a failed one only say that the transaction is aborted. */
  const toCause = (client: PreparingClient, error: unknown) => {
    if (getErrorCode(error) !== inFailedTransaction) client.failure = error;
    return client.failure ?? error;
  };
  const onResult = (client: PreparingClient, statement: Statement, sentAt: number) => {
    const now = performance.now();
    const ms = now - Math.max(sentAt, client.lastResultAt);
    client.lastResultAt = now;
    if (ms < slowMs) return;
    const origin = typeof statement === 'string' ? client.origin : (statement.origin ?? client.origin);
    options.onSlowStatement({ statement: describeStatement(statement), ms: Math.round(ms), ...origin });
  };
  // Assigned, since the driver types its query as a dozen overloads.
  PreparingClient.prototype.query = function query(this: PreparingClient, statement: Statement, ...rest: unknown[]) {
    const sentAt = performance.now();
    const prepared = named(statement);
    const result = (Client.prototype.query as unknown as Query).call(this, prepared, ...rest);
    if (!(result instanceof Promise)) return result;
    return result.then(
      (found: Found) => {
        onResult(this, prepared, sentAt);
        refuseOfAnother(this, toText(prepared), found);
        this.failure = undefined;
        return found;
      },
      (error: unknown) => {
        onResult(this, prepared, sentAt);
        countError(this, error);
        throw toCause(this, error);
      },
    );
  } as unknown as Client['query'];
  return PreparingClient;
}
