import type { Ctx } from '../../../../database/context.ts';
import { hasLink, isEmailAddress, isTitle, normalizeEmail, normalizeTitle } from '../../../../core/text.ts';
import { interestAreas, requestWithin } from '../../../../domains/courses/interests/service.ts';
import { formLimits } from '../booking/limits.ts';
import { countPosts } from '../booking/service.ts';
import { AddressLimited, hashAddress } from '../forms.ts';

/** The form as it was typed. */
export type InterestForm = { name: string; email: string };
export type InterestField = keyof InterestForm;

/** The faulty fields, each missing or not valid. */
export function listFaults({ name, email }: InterestForm) {
  const faults: { field: InterestField; isMissing: boolean }[] = [];
  const [title, address] = [normalizeTitle(name), normalizeEmail(email)];
  if (hasLink(title) || (title !== '' && !isTitle(title))) faults.push({ field: 'name', isMissing: false });
  const isValid = Array.from(address).length <= 254 && isEmailAddress(address);
  if (!isValid) faults.push({ field: 'email', isMissing: address === '' });
  return faults;
}

/** `POST /v2/courses/:id/interests` within the limits of the visitor's address. Throws `AddressLimited`. */
export async function requestByForm(ctx: Ctx, courseId: number, { name, email }: InterestForm, ip: string | undefined) {
  const address = await hashAddress(ctx, ip);
  await ctx.write(interestAreas, async (w) => {
    const { posts } = await countPosts(w, address);
    if (posts >= formLimits.postsPerHour) throw new AddressLimited('posts');
    const body = { email: normalizeEmail(email), name: normalizeTitle(name), language: ctx.language };
    await requestWithin(w, courseId, body, address);
  });
}
