// Endpoints that accept every message, in a process of their own: their work must not delay the client that measures.
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

let messages = 0;
const urls: string[] = [];
for (const address of process.argv.slice(2)) {
  const server = createServer((request, response) => {
    messages += 1;
    request.resume().on('end', () => response.writeHead(204).end());
  });
  await once(server.listen(0, address), 'listening');
  urls.push(`http://${address}:${(server.address() as AddressInfo).port}/hooks`);
}
process.on('message', () => process.send!({ messages }));
process.send!({ urls });
