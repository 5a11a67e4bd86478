import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { SMTPServer } from 'smtp-server';

/** An SMTP server on loopback that accepts every mail and records its recipient and time. */
export async function startMailSink() {
  const accepted: { address: string; at: number }[] = [];
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: ['STARTTLS'],
    closeTimeout: 100,
    onData(stream, { envelope }, done) {
      stream.resume().on('end', () => {
        const at = performance.now();
        for (const { address } of envelope.rcptTo) accepted.push({ address, at });
        done(null, 'accepted');
      });
    },
  });
  // The server's connections end with its process.
  server.on('error', () => undefined);
  server.listen(0, '127.0.0.1');
  await once(server.server, 'listening');
  const { port } = server.server.address() as AddressInfo;
  return {
    url: `smtp://127.0.0.1:${port}`,
    accepted,
    close: () => new Promise<void>((closed) => server.close(closed)),
  };
}
