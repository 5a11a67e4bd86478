import type { FastifyRequest } from 'fastify';
import type { Settings } from '../core/context.ts';
import { Problem } from '../core/errors.ts';
import { isChoosable } from '../resources/auth/password-schema.ts';
import type { Texts } from './texts.ts';
import type { Faults } from './views/passwords.tsx';

/**
 * Lets in what was sent from the pages' own forms. They send `Origin: null`, since they tell nobody where they come
 * from; then the browser says in another header whether it was the same site. On plain http (other than localhost) it does
 * not: there `Origin: null` passes whoever sends it, and only the cookie's SameSite keeps other sites out. A program says
 * neither, and is no danger: no browser hands it the cookie.
 */
export const fromOwnPages =
  ({ publicUrl }: Settings) =>
  async ({ method, headers }: FastifyRequest) => {
    if (method === 'GET' || method === 'HEAD') return;
    const { origin = 'null', 'sec-fetch-site': site = 'same-origin' } = headers;
    const isOwn = origin === 'null' || origin === new URL(publicUrl).origin;
    if (!isOwn || (site !== 'same-origin' && site !== 'none')) throw new Problem('forbidden', 'Sent from another site');
  };

/** A field of a form, if it was sent. */
export function fieldOf({ body }: FastifyRequest, name: string): string | undefined {
  const value = (body as Record<string, unknown> | undefined)?.[name];
  return typeof value === 'string' ? value : undefined;
}

/** The new password of a form, and what is wrong with it. Written once is enough for a program. */
export function readNewPassword(request: FastifyRequest, says: Texts): { password: string; faults: Faults } {
  const password = fieldOf(request, 'password') ?? '';
  const repeated = fieldOf(request, 'repeated') ?? password;
  if (!isChoosable(password)) return { password, faults: { password: says.wrongLength } };
  return { password, faults: repeated === password ? {} : { repeated: says.notRepeated } };
}
