import { Type, type Static } from '@sinclair/typebox';
import { partialUpdate } from '../../schema/partial-update.ts';
import { Count, withDefault, Email, Id, Line, LongLine, Note, OneOf, Title, UpperCode } from '../../schema/types.ts';
import { countryCodes } from '../../reference/countries.ts';
import { customerStatuses, customerTypes } from './schema.ts';

const { Optional } = Type;

/** POST /v2/customers. */
export type CustomerBody = Static<typeof CustomerBody>;
export const CustomerBody = Type.Object(
  {
    title: Title(),
    department: Optional(Line()),
    type: withDefault(OneOf([...customerTypes.keys()], { description: '1 Company, 2 Private' }), 1),
    orgnr: Optional(LongLine()),
    email: Optional(Email()),
    phone: Optional(LongLine()),
    fax: Optional(LongLine()),
    web_address: Optional(Line({ maxLength: 2_000 })),
    customer_reference_id: Optional(Line({ description: 'Customer number' })),
    country: withDefault(UpperCode(countryCodes), 'NO'),
    post_address_1: Optional(Line()),
    post_address_2: Optional(Line()),
    post_address_3: Optional(Line()),
    post_zipcode: Optional(Line()),
    post_city: Optional(Line()),
    invoice_address_1: Optional(Line()),
    invoice_address_2: Optional(Line()),
    invoice_address_3: Optional(Line()),
    invoice_zipcode: Optional(Line()),
    invoice_city: Optional(Line()),
    invoice_customer_reference: Optional(Line()),
    invoice_due_days: withDefault(Count(), 0),
    invoice_email: Optional(Email()),
    office_address_1: Optional(Line()),
    office_address_2: Optional(Line()),
    office_address_3: Optional(Line()),
    office_zipcode: Optional(Line()),
    office_city: Optional(Line()),
    seller_id: Optional({ ...Id, description: 'An id from /v2/app-users' }),
    note: Optional(Note()),
    status: withDefault(OneOf([...customerStatuses.keys()], { description: '1 Active, 2 Deactive' }), 1),
  },
  { examples: [{ title: 'Fjord Energy AS', orgnr: '912345678', email: 'post@fjordenergy.example' }] },
);

/** PUT /v2/customers/:id. */
export type CustomerChange = Static<typeof CustomerChange>;
export const CustomerChange = Type.Object(partialUpdate(CustomerBody.properties), {
  examples: [{ email: 'invoices@fjordenergy.example', invoice_due_days: 14 }],
});
