import type { Ctx } from '../../../../database/context.ts';
import { isMailSwitchedOn } from '../../../../domains/messages/mails/queue-service.ts';
import { toSchoolContext } from '../courses.ts';
import type { View } from '../view.ts';

/** True if the school sends the mail about a new date, and there is the page that confirms an interest. */
export const acceptsInterests = async (ctx: Ctx, { hasPersonalPages }: View) =>
  hasPersonalPages && isMailSwitchedOn(toSchoolContext(ctx), ctx.unlockedStore, 'date_published');
