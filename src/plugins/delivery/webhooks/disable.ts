import { eq, sql } from 'drizzle-orm';
import type { Ctx } from '../../../database/context.ts';
import { currentTime } from '../../../database/tables/columns.ts';
import { outbox } from '../../../database/tables/outbox.ts';
import { administratorRoleId, adminMembershipRoles } from '../../../database/tables/people.ts';
import { providers } from '../../../database/tables/providers.ts';
import { webhooks, type disabledReasons } from '../../../database/tables/webhooks.ts';
import { tenantWhere } from '../../../lists/tenant-scope.ts';

type Leased = { id: number; updatedAt: string; token: string };

/**
 * Disables a webhook while it has this lease, unless its settings have changed since the attempt. Notifies the
 * school by its e-mail for administration, or its administrators without one.
 */
export const disableWebhook = (ctx: Ctx, { id, updatedAt, token }: Leased, reason: (typeof disabledReasons)[number]) =>
  ctx.write(['school'], async (tx, now) => {
    const isUnchanged = sql`${webhooks.updatedAt} = ${updatedAt}::timestamptz`;
    const isLeased = tenantWhere(ctx, webhooks, eq(webhooks.id, id), eq(webhooks.leasedBy, token), isUnchanged);
    const { rowCount } = await tx
      .update(webhooks)
      .set({ isActive: false, disabledAt: now, disabledReason: reason, updatedAt: now })
      .where(isLeased);
    if (rowCount === 0) {
      tx.rollbackNoChange();
      return;
    }
    tx.recordAffected(id);
    const [school] = await tx
      .select({ email: providers.emailAdmin })
      .from(providers)
      .where(eq(providers.id, ctx.providerId));
    const administrators = await tx
      .select({ adminUserId: adminMembershipRoles.adminUserId })
      .from(adminMembershipRoles)
      .where(tenantWhere(ctx, adminMembershipRoles, eq(adminMembershipRoles.roleId, administratorRoleId)));
    const recipients = school!.email === '' ? administrators : [{ adminUserId: null }];
    if (recipients.length === 0) return;
    const mail = { providerId: ctx.providerId, purpose: 'webhook_disabled', webhookId: id } as const;
    await tx
      .insert(outbox)
      .values(recipients.map((recipient) => ({ ...mail, ...recipient, createdAt: now, dueAt: currentTime })));
  });
