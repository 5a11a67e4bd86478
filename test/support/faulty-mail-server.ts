import { createServer, type AddressInfo, type Socket } from 'node:net';
import PostalMime, { type Email } from 'postal-mime';
import { onTestFinished } from 'vitest';

export const stages = ['greeting', 'EHLO', 'MAIL', 'RCPT', 'DATA', 'text', 'end'] as const;
type Stage = (typeof stages)[number];
export type Fault = { stage: Stage; action: 'hangs' | 'dies' | '451' | '421' | '554' };

const replies: Record<Stage, string> = {
  ...{ greeting: '220 hello', EHLO: '250 hello', MAIL: '250 ok', RCPT: '250 ok', DATA: '354 go on' },
  ...{ text: '', end: '250 taken' },
};

/** An SMTP server with these faults in turn: a new connection has the next one, and the one after it once it has shown. */
export async function faultyServer(faults: Fault[]) {
  /** Complete mails, also those whose reply did not arrive. */
  const accepted: Email[] = [];
  const sockets = new Set<Socket>();
  const remaining = [...faults];
  const server = createServer((socket) => {
    sockets.add(socket.on('error', () => undefined));
    let fault = remaining.shift();
    let mail: string | undefined;
    let isHanging = false;
    const reach = (stage: Stage) => {
      const isFaulty = fault?.stage === stage;
      isHanging ||= isFaulty && fault!.action === 'hangs';
      if (isHanging) return false;
      if (isFaulty && fault!.action === 'dies') socket.destroy();
      else if (isFaulty) socket.write(`${fault!.action} 4.3.0 not now\r\n`);
      else if (stage !== 'text') socket.write(`${replies[stage]}\r\n`);
      if (isFaulty && stage !== 'text' && !socket.destroyed) fault = remaining.shift();
      return !isFaulty;
    };
    const receive = async (text: string) => {
      const isRefused = fault?.stage === 'end' && /^\d/.test(fault.action);
      if (!isRefused) accepted.push(await PostalMime.parse(text));
      reach('end');
    };
    reach('greeting');
    socket.on('data', (data) => {
      if (mail !== undefined) {
        if (mail === '' && !reach('text')) return;
        mail += data.toString();
        const isComplete = mail.endsWith('\r\n.\r\n');
        if (isComplete) void receive(mail.slice(0, -5));
        if (isComplete) mail = undefined;
        return;
      }
      const command = /^[A-Z]{4}/.exec(data.toString())?.[0] as Stage;
      if (!(command in replies)) socket.write('250 ok\r\n');
      else if (reach(command) && command === 'DATA') mail = '';
    });
  });
  await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready));
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  // A busy machine may be slow to reply, and then the mail would be sent again.
  const timeout = faults.some(({ action }) => action === 'hangs') ? 2_000 : 20_000;
  return { accepted, url: `smtp://127.0.0.1:${port}?greetingTimeout=${timeout}&socketTimeout=${timeout}` };
}
