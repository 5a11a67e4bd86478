import { createSocket } from 'node:dgram';
import { decode, encode, type Packet } from 'dns-packet';
import { onTestFinished } from 'vitest';

/** The texts of a name's TXT records, each of one or more strings, or the response to every query of it. */
type Entry = (string | string[])[] | 'SERVFAIL' | 'REFUSED';
type Zone = Record<string, Entry | 'no response'>;

const responseCodes = { NOERROR: 0, SERVFAIL: 2, NXDOMAIN: 3, REFUSED: 5 };

/** A DNS server on loopback, closed after the test; `queried` has the names in the order of their queries. */
export async function startDnsServer(zone: Zone) {
  const queried: string[] = [];
  const socket = createSocket('udp4', (message, { address, port }) => {
    const query = decode(message);
    const { name } = query.questions![0]!;
    queried.push(name);
    const entry = zone[name.toLowerCase()];
    if (entry !== 'no response') socket.send(encode(toResponse(query, entry)), port, address);
  });
  await new Promise<void>((ready) => socket.bind(0, '127.0.0.1', ready));
  onTestFinished(() => new Promise<void>((closed) => socket.close(closed)));
  return { queried, address: `127.0.0.1:${socket.address().port}` };
}

/** An empty list is a name that exists without TXT records. */
function toResponse({ id, questions }: Packet, entry: Entry | 'NXDOMAIN' = 'NXDOMAIN'): Packet {
  const [code, texts] = typeof entry === 'string' ? [entry, []] : (['NOERROR', entry] as const);
  return {
    ...{ type: 'response', id: id!, questions: questions!, flags: responseCodes[code] },
    answers: texts.map((data) => ({ type: 'TXT', name: questions![0]!.name, ttl: 60, data })),
  };
}
