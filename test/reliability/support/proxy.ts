import { createServer, connect, type Socket } from 'node:net';
import { once } from 'node:events';
import type { Run } from '../row.ts';

/** Faults of the network to the database. */
export type Weather =
  | { kind: 'clear' }
  /** Latency in milliseconds per direction. */
  | { kind: 'late'; milliseconds: number }
  /** Drops all bytes silently; connections open at that time never recover. */
  | { kind: 'silent' }
  /** Cuts one in so many responses with rows within a row, with its connection. */
  | { kind: 'cut'; oneIn: number }
  | { kind: 'slow'; bytesPerSecond: number }
  /** Refuses connections and cuts the open ones. */
  | { kind: 'refused' };

export type Proxy = {
  port: number;
  /** Applies to open connections as well. */
  turn(weather: Weather): Promise<void>;
  /** Number of rows cut. */
  cuts(): number;
};

/** A TCP proxy in front of a local port. */
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
        // A lost connection does not notify the other end.
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
        // A tenth of a second's bandwidth.
        const size = Math.ceil(weather.bytesPerSecond / 10);
        for (let at = 0; at < bytes.length; at += size) {
          const part = bytes.subarray(at, at + size);
          free = Math.max(free, now) + (part.length * 1_000) / weather.bytesPerSecond;
          setTimeout(pass, free - now, part);
        }
      } else {
        // Keeps the order of the bytes.
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

/** Parses the PostgreSQL message stream (type, length, content) and returns the offset within a data row. */
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
        // The length includes itself.
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
