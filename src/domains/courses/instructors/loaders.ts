import { and, asc, eq, getTableColumns, isNull, or } from 'drizzle-orm';
import type { courseDateInstructors, gatheringInstructors } from '../../../database/tables/coursedates.ts';
import { instructors } from '../../../database/tables/places.ts';
import { batchLoader, rowLoader } from '../../../lists/loaders.ts';
import { sameTenant, tenantWhere } from '../../../lists/tenant-scope.ts';

export const fetchInstructors = rowLoader(instructors);

type Links = typeof courseDateInstructors | typeof gatheringInstructors;
type OwnerId = typeof courseDateInstructors.courseDateId | typeof gatheringInstructors.gatheringId;

/** The instructors of course dates or gatherings: all own ones, and a partner's that its web pages show. */
export const fetchLinkedInstructors = (links: Links, ownerId: OwnerId) =>
  batchLoader((ctx, keys) =>
    ctx.db
      .select({ ownerId, ...getTableColumns(instructors) })
      .from(links)
      .innerJoin(instructors, sameTenant(instructors, links, eq(instructors.id, links.instructorId)))
      .where(
        and(
          keys.match(links, ownerId),
          or(tenantWhere(ctx, instructors), and(eq(instructors.showOnWeb, true), isNull(instructors.archivedAt))),
        ),
      )
      .orderBy(asc(instructors.id)),
  );
