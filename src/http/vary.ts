import type { FastifyReply } from 'fastify';

/** Adds the name of a request header to `Vary`. */
export const addVary = (reply: FastifyReply, name: string) =>
  reply.header('vary', [reply.getHeader('vary') ?? [], name].flat().join(', '));
