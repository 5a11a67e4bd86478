import { Type } from '@sinclair/typebox';
import { eq, isNull, sql } from 'drizzle-orm';
import type { PgColumn } from 'drizzle-orm/pg-core';
import { t } from '../../../core/schema/types.ts';
import { folded } from '../../../database/tables/columns.ts';
import { courseUsers } from '../../../database/tables/users.ts';
import { filter } from '../../../lists/filters.ts';
import { defineList } from '../../../lists/define-list.ts';
import { fetchCourseUsers, isPerson } from './loaders.ts';
import { courseUserSerializer } from './serializer.ts';

const wildcards = /[\\%_]/g;

const startsWith = (column: PgColumn, condition = sql`true`) =>
  filter.indexed(
    t.Title({
      description: 'Begins with this, without regard to case and to kinds of blanks, apostrophes and hyphens',
    }),
    { column: folded(column) },
    (keyword) => sql`(${folded(column)} like ${folded(keyword.replace(wildcards, '\\$&'))} || '%' and ${condition})`,
  );

const keywords = {
  email: filter.email(
    {
      description: 'Equal to this, without regard to case',
      examples: ['ida.ovrebo@havbris.example'],
    },
    courseUsers.email,
  ),
  firstname: startsWith(courseUsers.firstname),
  lastname: startsWith(courseUsers.lastname),
  // That of an erased person is a random one.
  username: startsWith(courseUsers.username, isNull(courseUsers.erasedAt)),
};
const dates = {
  ...filter.timestamps(courseUsers),
};

export const courseUserList = defineList({
  table: courseUsers,
  condition: isPerson,
  serializer: courseUserSerializer,
  filters: {
    ...keywords,
    customer_id: filter.indexed(
      { ...t.Id, description: 'Only course users of this customer; all unless sent' },
      { column: courseUsers.customerId },
      (id) => eq(courseUsers.customerId, id),
    ),
    external_id: filter.selective(
      t.Line({ minLength: 1, description: 'Only course users with this `external_id`; all unless sent' }),
      (id) => eq(courseUsers.externalId, id),
    ),
    q: filter.search(courseUsers, { description: 'the names or the e-mail' }),
    ...dates,
  },
  sorting: {},
  spreadsheet: { brief: ['customer'] },
  fetch: fetchCourseUsers,
});

export const courseUserSearch = defineList({
  table: courseUsers,
  condition: isPerson,
  serializer: courseUserSerializer,
  filters: keywords,
  sorting: {},
  // A search returns as many as it can by default.
  paging: { defaultLimit: 250 },
  fetch: fetchCourseUsers,
});

/** The course users of the customer in the path. */
export const employeeList = defineList({
  table: courseUsers,
  serializer: courseUserSerializer,
  sorting: {},
  pathFilters: { customer_id: filter.selective(t.Id, (id) => eq(courseUsers.customerId, id)) },
  filters: {
    ...dates,
    paginate: filter.parameter(
      Type.Boolean({
        default: false,
        description: 'true: an object with `pagination` and `items` instead of an array',
      }),
    ),
  },
  fetch: fetchCourseUsers,
});
