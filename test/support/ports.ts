import { createServer } from 'node:net';

/** The ports are below the range from which Linux and macOS choose the ports of outgoing connections (from 32768 on). */
const [first, last] = [10_000, 32_000];

/** A free port that no outgoing connection takes before the caller listens on it. */
export async function freePort(): Promise<number> {
  const port = first + Math.floor(Math.random() * (last - first));
  const free = await new Promise<boolean>((done) => {
    const probe = createServer()
      .once('error', () => done(false))
      .listen(port, '127.0.0.1', () => probe.close(() => done(true)));
  });
  return free ? port : freePort();
}
