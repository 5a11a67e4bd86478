import { and, eq, isNotNull } from 'drizzle-orm';
import { Type } from '@sinclair/typebox';
import { t } from '../../../core/schema/types.ts';
import { digitsOf, toDigits } from '../../../database/tables/columns.ts';
import { customers } from '../../../database/tables/customers.ts';
import { filter } from '../../../lists/filters.ts';
import { defineList } from '../../../lists/define-list.ts';
import { relation, type Serializer } from '../../../lists/relations.ts';
import { fetchEmployees, maxEmbedded } from '../users/loaders.ts';
import { courseUserSerializer } from '../users/serializer.ts';
import type { CourseUser } from '../users/fields.ts';
import type { CustomerRow } from '../customers/fields.ts';
import { privateType } from '../customers/schema.ts';
import { fetchCustomers, customerSerializer } from '../customers/serializer.ts';

const employees = relation.includeMany(fetchEmployees, courseUserSerializer, t.member.personal);

const CustomerWithEmployees = t.NamedObject('CustomerWithEmployees', {
  ...customerSerializer.schema.properties,
  employees: Type.Optional({ ...employees.schema, maxItems: maxEmbedded }),
  employees_truncated: t.member.closed(
    Type.Optional(
      Type.Literal(true, {
        description: `Only where the customer has more than ${maxEmbedded} employees; all are in /v2/customers/:id/employees`,
      }),
    ),
  ),
});

/** A customer with its employees if requested; a private customer, who is one of them, always has them. */
const listedSerializer: Serializer<CustomerRow, typeof CustomerWithEmployees> = {
  schema: CustomerWithEmployees,
  names: ['employees'],
  readAreas: () => ['people'],
  async embed(ctx, rows, query, includes) {
    const items = await customerSerializer.embed(ctx, rows, query, []);
    const expanded = rows.filter(({ type }) => type === privateType || includes.includes('employees'));
    if (expanded.length === 0) return items;
    const getEmployees = await employees.load(ctx, expanded, query, []);
    const expandedRows = new Set(expanded);
    return items.map((item, n) => {
      if (!expandedRows.has(rows[n]!)) return item;
      const all = getEmployees(rows[n]!) as CourseUser[];
      if (all.length <= maxEmbedded) return { ...item, employees: all };
      return { ...item, employees: all.slice(0, maxEmbedded), employees_truncated: true as const };
    });
  },
};

export const customerList = defineList({
  includeName: 'CustomerInclude',
  table: customers,
  serializer: listedSerializer,
  sorting: {},
  spreadsheet: {},
  filters: {
    orgnr: filter.selective(
      t.Line({
        minLength: 1,
        description: 'Only customers of this organization number, by its digits; all unless sent',
      }),
      (orgnr) => and(isNotNull(customers.orgnr), eq(digitsOf(customers.orgnr), toDigits(orgnr))),
    ),
    email: filter.email(
      {
        description: 'Only customers of this e-mail, without regard to case; all unless sent',
      },
      customers.email,
    ),
    reference: filter.text(
      {
        description:
          'Only customers whose `customer_reference_id` or `customer_reference` is this, without regard to case; all unless sent',
      },
      customers.customerReferenceId,
      customers.customerReference,
    ),
    q: filter.search(customers, { description: 'the title, organization number, e-mail or a reference' }),
    ...filter.timestamps(customers),
  },
  fetch: fetchCustomers,
});
