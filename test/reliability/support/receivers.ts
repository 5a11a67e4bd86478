import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import type { Run } from '../scenario.ts';

/** A message as it arrived; `isAccepted` if it was answered with 204. */
type Arrival = { eventId: number; messageId: string; isAccepted: boolean; delayMs: number; committedAt: number };
/** Answers the n-th message, from 1, unless it returns true: then it is accepted. */
export type Fault = (n: number, response: ServerResponse) => boolean;

/** An endpoint on an address of its own, so that no limit of a host joins it with others. */
export async function startReceiver(run: Run, address: string, fault: Fault = () => true) {
  const arrivals: Arrival[] = [];
  let server: Server | undefined;
  let port = 0;
  const handle = async (request: IncomingMessage, response: ServerResponse) => {
    const arrivedAt = Date.now();
    const body = JSON.parse(await text(request)) as { timestamp: string; data: { id: number } };
    const committedAt = Date.parse(body.timestamp);
    const arrival = {
      ...{ eventId: body.data.id, messageId: String(request.headers['webhook-id']) },
      ...{ isAccepted: false, delayMs: arrivedAt - committedAt, committedAt },
    };
    arrivals.push(arrival);
    if (!fault(arrivals.length, response)) return;
    arrival.isAccepted = true;
    response.writeHead(204).end();
  };
  const start = async () => {
    server = createServer((request, response) => void handle(request, response).catch(() => response.destroy()));
    await once(server.listen(port, address), 'listening');
    ({ port } = server.address() as AddressInfo);
  };
  const stop = () => {
    server?.closeAllConnections();
    server?.close();
  };
  run.onCleanup(stop);
  await start();
  return { arrivals, url: `http://${address}:${port}/hooks`, start, stop };
}
export type Receiver = Awaited<ReturnType<typeof startReceiver>>;

/** How an endpoint's messages differ from the events that it must get, each once and in their order. */
export function compareArrivals({ arrivals }: Pick<Receiver, 'arrivals'>, eventIds: number[]) {
  const accepted = arrivals.filter(({ isAccepted }) => isAccepted).map(({ eventId }) => eventId);
  const acceptedIds = new Set(accepted);
  const firsts = [...acceptedIds];
  const messageIds = new Map<number, Set<string>>();
  for (const { eventId, messageId } of arrivals)
    messageIds.set(eventId, (messageIds.get(eventId) ?? new Set()).add(messageId));
  return {
    lost: eventIds.filter((id) => !acceptedIds.has(id)).length,
    disordered: firsts.filter((id, n) => n > 0 && id < firsts[n - 1]!).length,
    /** Accepted messages that came again. */
    repeated: accepted.length - firsts.length,
    /** Events that came under several ids, or ids of several events. */
    renamed:
      [...messageIds.values()].filter((ids) => ids.size > 1).length +
      (messageIds.size - new Set([...messageIds.values()].flatMap((ids) => [...ids])).size),
  };
}
