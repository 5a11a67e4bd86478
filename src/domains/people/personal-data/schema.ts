import { customers } from '../../../database/tables/customers.ts';
import { courseUsers } from '../../../database/tables/users.ts';
import { entry, erasedText, isReferred } from '../../../lists/personal-data.ts';

/** That of an erased person stays. */
const username = `case when erased_at is not null and starts_with(username, 'erased-') then username
  else ${erasedText(` || '-' || gen_random_uuid()`)} end`;
const ofInvoice = `department type status orgnr country customer_reference_id customer_reference duedate_days
  invoice_address invoice_address_2 invoice_address_3 invoice_zipcode invoice_city`;

export const ofPeople = {
  course_users: entry(courseUsers, 'id = :userId', { erase: { username } }),
  customers: entry(customers, 'id = any(:customers::bigint[])', {
    ...{ erase: { title: `'Erased'`, keptUntil: null }, of: 'unneeded', show: ['ExportedCustomer'] },
    invoice: { condition: isReferred('orders', 'customer_id'), columns: ofInvoice },
  }),
};
