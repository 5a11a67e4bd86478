import type { FastifyInstance } from 'fastify';

/** Lines of one address within a minute. */
const maxLines = 10;
/** Beyond it addresses are counted as one, so that many of them fill neither the memory nor the log. */
const maxAddresses = 1_000;
const windowMs = 60_000;
const others = 'other addresses';

/**
 * Returns whether a refused request of an address gets a line of its own: the first ten of a minute. The number of the
 * others is logged at its end, in one line for each address.
 */
export function sampleRefusals(app: FastifyInstance) {
  const counts = new Map<string, number>();
  let timer: NodeJS.Timeout | undefined;

  const endWindow = () => {
    clearTimeout(timer);
    for (const [address, count] of counts) {
      const unlogged = count - maxLines;
      if (unlogged > 0) app.log.info({ address, count: unlogged }, `${unlogged} more requests refused in a minute`);
    }
    counts.clear();
  };
  app.addHook('onClose', async () => endWindow());

  return (address: string) => {
    if (counts.size === 0) timer = setTimeout(endWindow, windowMs).unref();
    const name = counts.has(address) || counts.size < maxAddresses ? address : others;
    const count = (counts.get(name) ?? 0) + 1;
    counts.set(name, count);
    return count <= maxLines;
  };
}
