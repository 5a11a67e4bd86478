import { Client } from 'pg';

export type Value = string | number | boolean | null | undefined | Value[];

/** A statement as the service sent it, by name where it has one, with the first row of its answer. */
export type Sent = {
  name: string | undefined;
  text: string;
  values: Value[];
  row?: Record<string, unknown> | undefined;
};

type Asked = string | { name?: string; text: string; values?: Value[] };
type Answered = { rows?: Record<string, unknown>[] } | undefined;

/** All statements that this process sends while the work runs, in their order. */
export async function statementsOf(work: () => Promise<unknown>): Promise<Sent[]> {
  const all: Sent[] = [];
  const prototype = Client.prototype as unknown as { query: (asked: Asked, ...rest: unknown[]) => unknown };
  const { query } = prototype;
  prototype.query = function record(asked, ...rest) {
    const {
      name,
      text,
      values: own,
    } = typeof asked === 'string' ? { name: undefined, text: asked, values: [] } : asked;
    const values = own ?? (Array.isArray(rest[0]) ? (rest[0] as Value[]) : []);
    const sent: Sent = { name, text, values };
    all.push(sent);
    const answering = query.call(this, asked, ...rest);
    // Who hands over a callback gets no promise; a transaction's statements always do.
    Promise.resolve(answering as Answered).then(
      (answered) => (sent.row = answered?.rows?.[0]),
      () => undefined,
    );
    return answering;
  };
  try {
    await work();
  } finally {
    prototype.query = query;
  }
  return all;
}
