import { createServer, connect, type Socket } from 'node:net';
import { once } from 'node:events';
import type { Run } from '../scenario.ts';

/** Faults of the network to the database. */
export type NetworkFault =
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
  setFault(networkFault: NetworkFault): Promise<void>;
  /** Number of rows cut. */
  cuts(): number;
};

/** A TCP proxy in front of a local port. */
export async function openProxy(run: Run, target: number): Promise<Proxy> {
  let networkFault: NetworkFault = { kind: 'clear' };
  let cuts = 0;
  const pairs = new Set<Pair>();
  type Pair = { ends: Socket[]; isLost: boolean };

  const server = createServer((client) => {
    const database = connect(target, '127.0.0.1');
    const pair: Pair = { ends: [client, database], isLost: networkFault.kind === 'silent' };
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
    forward(pair, client, database, false);
    forward(pair, database, client, true);
  });

  function forward(pair: Pair, from: Socket, to: Socket, isResponse: boolean) {
    let nextFreeAt = 0;
    const findRow = isResponse ? createRowFinder() : () => undefined;
    const write = (bytes: Buffer) => {
      if (!pair.isLost && !to.destroyed) to.write(bytes);
    };
    from.on('data', (bytes: Buffer) => {
      if (pair.isLost) return;
      const now = performance.now();
      const cutAt = findRow(bytes);
      if (networkFault.kind === 'cut' && cutAt !== undefined && run.random() * networkFault.oneIn < 1) {
        cuts += 1;
        pair.isLost = true;
        to.write(bytes.subarray(0, cutAt), () => {
          to.resetAndDestroy();
          from.resetAndDestroy();
        });
      } else if (networkFault.kind === 'slow') {
        // A tenth of a second's bandwidth.
        const size = Math.ceil(networkFault.bytesPerSecond / 10);
        for (let at = 0; at < bytes.length; at += size) {
          const part = bytes.subarray(at, at + size);
          nextFreeAt = Math.max(nextFreeAt, now) + (part.length * 1_000) / networkFault.bytesPerSecond;
          setTimeout(write, nextFreeAt - now, part);
        }
      } else {
        // Keeps the order of the bytes.
        nextFreeAt = Math.max(nextFreeAt, networkFault.kind === 'late' ? now + networkFault.milliseconds : 0);
        if (nextFreeAt > now) setTimeout(write, nextFreeAt - now, bytes);
        else write(bytes);
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
  run.onCleanup(() => {
    server.close();
    for (const { ends } of pairs) for (const end of ends) end.destroy();
  });
  return {
    port,
    cuts: () => cuts,
    setFault: async (next) => {
      const previous = networkFault;
      networkFault = next;
      if (next.kind === 'silent') for (const pair of pairs) pair.isLost = true;
      if (next.kind === 'refused') {
        server.close();
        cutAll();
      } else if (previous.kind === 'refused') {
        await listen(port);
      }
    },
  };
}

const dataRow = 'D'.charCodeAt(0);

/** Parses the PostgreSQL message stream (type, length, content) and returns the offset within a data row. */
function createRowFinder() {
  let head: number[] = [];
  let remaining = 0;
  return (bytes: Buffer) => {
    let offset: number | undefined;
    let at = 0;
    while (at < bytes.length) {
      if (remaining === 0) {
        if (head.length === 5) head = [];
        head.push(bytes[at]!);
        at += 1;
        // The length includes itself.
        if (head.length === 5) remaining = Buffer.from(head).readUInt32BE(1) - 4;
      } else {
        const part = Math.min(remaining, bytes.length - at);
        if (head[0] === dataRow) offset ??= at + Math.floor(part / 2);
        at += part;
        remaining -= part;
      }
    }
    return offset;
  };
}
