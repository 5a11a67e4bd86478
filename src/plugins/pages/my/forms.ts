import type { FastifyRequest } from 'fastify';
import { Problem } from '../../../core/errors.ts';
import { readField } from '../forms.ts';
import { findPasswordFault } from '../../../domains/school/auth/schema.ts';
import type { Texts } from '../texts.ts';
import type { FieldErrors } from './views/passwords.tsx';

/** A link that signs in works for a person who follows it, not for an image, a frame or a prefetch of another page. */
export async function rejectSubresource({ headers }: FastifyRequest) {
  const isPrefetch = String(headers['sec-purpose'] ?? '').startsWith('prefetch');
  if ((headers['sec-fetch-dest'] ?? 'document') !== 'document' || isPrefetch)
    throw new Problem('forbidden', 'Not a navigation to the page');
}

/** The id in a path; throws not_found for anything else. */
export function toId(text: string): number {
  if (!/^\d{1,15}$/.test(text)) throw Problem.notFound('Participant');
  return Number(text);
}

type NewPassword = { password: string; errors: FieldErrors };

/** The form's new password and its errors; `repeated` is optional, for scripts. */
export function readNewPassword(request: FastifyRequest, texts: Texts, names: readonly unknown[]): NewPassword {
  const password = readField(request, 'password') ?? '';
  const repeated = readField(request, 'repeated') ?? password;
  const fault = findPasswordFault(password, names);
  if (fault !== undefined) return { password, errors: { password: texts.passwordFaults[fault] } };
  return { password, errors: repeated === password ? {} : { repeated: texts.notRepeated } };
}
