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
  /** Each connection is cut in the middle of a message of the database. */
  | { kind: 'cut' }
  | { kind: 'slow'; bytesPerSecond: number }
  /** Nobody listens, and what was open is cut. */
  | { kind: 'refused' };

export type Proxy = {
  port: number;
  /** From now on, also for what is open. */
  turn(weather: Weather): Promise<void>;
};

/** Stands before a port of this machine. */
export async function openProxy(run: Run, target: number): Promise<Proxy> {
  let weather: Weather = { kind: 'clear' };
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
    const pass = (bytes: Buffer) => {
      if (!pair.isLost && !to.destroyed) to.write(bytes);
    };
    from.on('data', (bytes: Buffer) => {
      if (pair.isLost) return;
      const now = performance.now();
      if (weather.kind === 'cut' && isAnswer && bytes.length > 100) {
        to.write(bytes.subarray(0, bytes.length / 2), () => {
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
