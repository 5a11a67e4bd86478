import { createServer, connect, type Socket } from 'node:net';
import { once } from 'node:events';
import type { Run } from '../row.ts';

/** What the way to the database is like. */
export type Weather =
  | { kind: 'clear' }
  /** Each way takes so many milliseconds. */
  | { kind: 'late'; milliseconds: number }
  /** Nothing comes through, and nobody hears of it; what was open then never comes back. */
  | { kind: 'silent' }
  /** Of the answers that carry a row one in so many is cut amid it, with its connection. */
  | { kind: 'cut'; oneIn: number }
  | { kind: 'slow'; bytesPerSecond: number }
  /** Nobody listens, and what was open is cut. */
  | { kind: 'refused' };

export type Proxy = {
  port: number;
  /** From now on, also for what is open. */
  turn(weather: Weather): Promise<void>;
  /** How many rows were cut so far. */
  cuts(): number;
};

/** Stands before a port of this machine. */
export async function openProxy(run: Run, target: number): Promise<Proxy> {
  let weather: Weather = { kind: 'clear' };
  let cuts = 0;
  const pairs = new Set<Pair>();
  type Pair = { ends: Socket[]; isLost: boolean };

  const server = createServer((client) => {
    const database = connect(target, '127.0.0.1');
    const pair: Pair = { ends: [client, database], isLost: weather.kind === 'silent' };
    pairs.add(pair);
    for (const end of pair.ends) {
      end.setNoDelay(true);
      end.on('error', () => undefined);
      end.on('close', () => {
        pairs.delete(pair);
        // One that is lost does not tell the other end.
        if (!pair.isLost) for (const one of pair.ends) one.destroy();
      });
    }
    carry(pair, client, database, false);
    carry(pair, database, client, true);
  });

  function carry(pair: Pair, from: Socket, to: Socket, isAnswer: boolean) {
    let free = 0;
    const amidRow = isAnswer ? followRows() : () => undefined;
    const pass = (bytes: Buffer) => {
      if (!pair.isLost && !to.destroyed) to.write(bytes);
    };
    from.on('data', (bytes: Buffer) => {
      if (pair.isLost) return;
      const now = performance.now();
      const cutAt = amidRow(bytes);
      if (weather.kind === 'cut' && cutAt !== undefined && run.random() * weather.oneIn < 1) {
        cuts += 1;
        pair.isLost = true;
        to.write(bytes.subarray(0, cutAt), () => {
          to.resetAndDestroy();
          from.resetAndDestroy();
        });
      } else if (weather.kind === 'slow') {
        // As many as a tenth of a second carries.
        const size = Math.ceil(weather.bytesPerSecond / 10);
        for (let at = 0; at < bytes.length; at += size) {
          const part = bytes.subarray(at, at + size);
          free = Math.max(free, now) + (part.length * 1_000) / weather.bytesPerSecond;
          setTimeout(pass, free - now, part);
        }
      } else {
        // Never before what was sent earlier.
        free = Math.max(free, weather.kind === 'late' ? now + weather.milliseconds : 0);
        if (free > now) setTimeout(pass, free - now, bytes);
        else pass(bytes);
      }
    });
  }

  const cutAll = () => {
    for (const { ends } of pairs) for (const end of ends) end.resetAndDestroy();
  };
  const listen = async (port: number) => {
    server.listen(port, '127.0.0.1');
    await once(server, 'listening');
  };
  await listen(0);
  const { port } = server.address() as { port: number };
  run.afterwards(() => {
    server.close();
    for (const { ends } of pairs) for (const end of ends) end.destroy();
  });
  return {
    port,
    cuts: () => cuts,
    turn: async (next) => {
      const was = weather;
      weather = next;
      if (next.kind === 'silent') for (const pair of pairs) pair.isLost = true;
      if (next.kind === 'refused') {
        server.close();
        cutAll();
      } else if (was.kind === 'refused') {
        await listen(port);
      }
    },
  };
}

const dataRow = 'D'.charCodeAt(0);

/** Follows the messages of a database, each a letter, its length and its content: where these bytes are amid a row. None comes before a connection is open. */
function followRows() {
  let head: number[] = [];
  let left = 0;
  return (bytes: Buffer) => {
    let amid: number | undefined;
    let at = 0;
    while (at < bytes.length) {
      if (left === 0) {
        if (head.length === 5) head = [];
        head.push(bytes[at]!);
        at += 1;
        // The length counts itself.
        if (head.length === 5) left = Buffer.from(head).readUInt32BE(1) - 4;
      } else {
        const part = Math.min(left, bytes.length - at);
        if (head[0] === dataRow) amid ??= at + Math.floor(part / 2);
        at += part;
        left -= part;
      }
    }
    return amid;
  };
}
