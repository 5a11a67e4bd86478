import { omitColumns } from '../../database/tables/columns.ts';
import { courseUsers } from '../../database/tables/users.ts';
import { batchLoader } from '../../lists/loaders.ts';

/** All columns but the password hash. */
export const courseUserColumns = omitColumns(courseUsers, ['passwordHash']);

/** Course users by their ids. */
export const fetchCourseUsers = batchLoader((ctx, keys) =>
  ctx.db.select(courseUserColumns).from(courseUsers).where(keys.match(courseUsers, courseUsers.id)),
);
