// Sends requests over many connections until its input ends, in a process of its own; arguments: port, connections, kind
// of request, key.
import { Agent, request } from 'node:http';

const [port, connections, kind, key] = process.argv.slice(2) as [string, string, 'lists' | 'wrong keys', string];
const agent = new Agent({ keepAlive: true, maxSockets: Number(connections) });
const statuses: Record<number, number> = {};
let isOver = false;

const nextKey = () => (kind === 'lists' ? key : `guess-${Math.random().toString(36)}`.padEnd(40, '-'));

function send() {
  if (isOver) return;
  const path = `/v2/courses?limit=250&x=${Math.random()}`;
  const headers = { 'x-api-key': nextKey() };
  request({ host: '127.0.0.1', port, path: kind === 'lists' ? path : '/v2/courses', headers, agent }, (response) => {
    statuses[response.statusCode!] = (statuses[response.statusCode!] ?? 0) + 1;
    response.resume().on('close', send);
  })
    .on('error', () => setTimeout(send, 50))
    .end();
}

for (let n = 0; n < Number(connections); n += 1) send();
process.stdin.resume().on('end', () => {
  isOver = true;
  console.log(JSON.stringify(statuses));
  process.exit();
});
