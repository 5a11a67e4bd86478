import { inArray } from 'drizzle-orm';
import type { Ctx } from '../../database/context.ts';
import { providers } from '../../database/tables/providers.ts';

const { id, title, webAddress, slug } = providers;

export const fetchProviders = (ctx: Pick<Ctx, 'db'>, { ids }: { ids: number[] }) =>
  ctx.db.select({ id, title, webAddress, slug }).from(providers).where(inArray(providers.id, ids));
