// Writes as many pipelined requests at once as argv says over some connections, and connects anew when one is closed.
// Ends when its standard input does, and prints the number of connections and responses.
import { connect } from 'node:net';

const [port, connections, count, path] = process.argv.slice(2) as [string, string, string, string];
const requests = Buffer.from(`GET ${path} HTTP/1.1\r\nhost: localhost\r\n\r\n`.repeat(Number(count)));
const seen = { connections: 0, responses: 0 };

function flood() {
  seen.connections += 1;
  let unanswered = Number(count);
  const socket = connect(Number(port), '127.0.0.1', () => socket.write(requests));
  socket.setEncoding('latin1').on('data', (part: string) => {
    const responses = part.split('HTTP/1.1 ').length - 1;
    seen.responses += responses;
    unanswered -= responses;
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
