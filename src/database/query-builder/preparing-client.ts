import type { Writable } from 'node:stream';
import { Client } from 'pg';
import { isPreparingFault } from '../errors.ts';
import { namedBy } from '../statements.ts';

type Asked = string | { text: string; name?: string | undefined; rowMode?: string };
type Query = (this: Client, asked: Asked, ...rest: unknown[]) => unknown;

/** So that texts which vary without end, such as lists of ids written out, cannot fill a connection's memory. */
const maxNames = 500;

/** The driver's types keep its connection to themselves. */
type Connected = { connection: { stream: Writable } };

/** What is asked in one turn of the event loop wakes the database once: that costs more than a small statement. */
function corkWrites(stream: Writable) {
  if (stream.writableCorked > 0) return;
  stream.cork();
  process.nextTick(() => stream.uncork());
}

/** So many connections whose first error is a prepared statement's, within a minute, come from a pooler that cannot keep them. */
const maxFaults = 3;

/** Counts the connections that a pooler breaks; calls `stop` once when they are too many. */
function faultCounter(stop: () => void) {
  const failed = new WeakSet<Client>();
  let faults: number[] = [];
  return (client: Client, error: unknown) => {
    if (failed.has(client)) return;
    failed.add(client);
    if (!isPreparingFault(error)) return;
    const now = performance.now();
    faults = [...faults.filter((at) => now - at < 60_000), now];
    if (faults.length === maxFaults) stop();
  };
}

/** A name for a text that came before: planning what comes once would gain nothing. */
function statementNamer() {
  const seen = new Set<string>();
  const names = new Map<string, string>();
  return function nameOf(text: string): string | undefined {
    const known = names.get(text);
    if (known !== undefined || names.size >= maxNames) return known;
    if (!seen.has(text)) {
      if (seen.size >= maxNames) seen.clear();
      seen.add(text);
      return undefined;
    }
    seen.delete(text);
    const name = namedBy('q_', text);
    names.set(text, name);
    return name;
  };
}

/**
 * A driver's client that has the server plan each text of the query builder once a connection, and what has a name of its
 * own; without `prepare` nothing, which some transaction poolers need. It turns `prepare` off by itself, and calls
 * `onUnprepared`, when such a pooler shows.
 */
export function preparingClient(options: { prepare: boolean; onUnprepared?: () => void }): typeof Client {
  let { prepare } = options;
  const getName = statementNamer();
  const countFault = faultCounter(() => {
    prepare = false;
    options.onUnprepared?.();
  });
  const named = (asked: Asked): Asked => {
    if (typeof asked === 'string' || (prepare && asked.name !== undefined)) return asked;
    // Rows as arrays are what the query builder asks for; what is written by hand names itself, or has a reason not to.
    return { ...asked, name: prepare && asked.rowMode === 'array' ? getName(asked.text) : undefined };
  };
  class Preparing extends Client {}
  // Assigned, since the driver types its query as a dozen overloads.
  Preparing.prototype.query = function ask(this: Client, asked: Asked, ...rest: unknown[]) {
    corkWrites((this as unknown as Connected).connection.stream);
    const answer = (Client.prototype.query as unknown as Query).call(this, named(asked), ...rest);
    if (answer instanceof Promise) answer.catch((error: unknown) => countFault(this, error));
    return answer;
  } as unknown as Client['query'];
  return Preparing;
}
