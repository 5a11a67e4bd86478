import type { FastifyReply } from 'fastify';

/** Names ignored parameters and fields in the response, after those that it names already. */
export function nameIgnored(reply: FastifyReply, names: string[]) {
  const before = reply.getHeader('x-ignored-parameters') ?? [];
  if (names.length > 0) reply.header('x-ignored-parameters', [before, names].flat().join(', '));
}

/** The fields that an existing item has not taken. */
export const findKept = <N extends string>(
  sent: { [K in N]?: unknown },
  item: Record<N, unknown>,
  names: readonly N[],
) => names.filter((name) => sent[name] && sent[name] !== item[name]);
