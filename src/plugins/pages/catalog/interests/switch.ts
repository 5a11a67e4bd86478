import type { Ctx } from '../../../../database/context.ts';
import { isMailSwitchedOn } from '../../../../domains/messages/mails/queue-service.ts';
import { toSchoolContext } from '../courses.ts';

/** True if the school sends the mail about a new date. */
export const acceptsInterests = (ctx: Ctx) =>
  isMailSwitchedOn(toSchoolContext(ctx), ctx.unlockedStore, 'date_published');
