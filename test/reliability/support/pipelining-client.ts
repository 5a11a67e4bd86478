// Writes as many pipelined requests at once as argv says over some connections, and connects anew when one is closed.
// Ends when its standard input does, and prints the number of connections, responses, and those with status 429.
import { connect } from 'node:net';

const [port, connections, count, path] = process.argv.slice(2) as [string, string, string, string];
const requests = Buffer.from(`GET ${path} HTTP/1.1\r\nhost: localhost\r\n\r\n`.repeat(Number(count)));
const seen = { connections: 0, responses: 0, refused: 0 };

function flood() {
  seen.connections += 1;
  let unanswered = Number(count);
  let rest = '';
  const socket = connect(Number(port), '127.0.0.1', () => socket.write(requests));
  socket.setEncoding('latin1').on('data', (part: string) => {
    const statuses = [...(rest + part).matchAll(/HTTP\/1\.1 (\d{3})/g)].map(([, status]) => status);
    // Shorter than a match, so that none counts twice.
    rest = (rest + part).slice(-'HTTP/1.1 20'.length);
    seen.responses += statuses.length;
    seen.refused += statuses.filter((status) => status === '429').length;
    unanswered -= statuses.length;
    if (unanswered > 0) return;
    unanswered = Number(count);
    socket.write(requests);
  });
  socket.on('error', () => undefined);
  // A pause, since on two cores this process would else take the server's time.
  socket.on('close', () => setTimeout(flood, 5));
}

for (let n = 0; n < Number(connections); n += 1) flood();
process.stdin.resume().on('end', () => {
  process.stdout.write(JSON.stringify(seen), () => process.exit());
});
