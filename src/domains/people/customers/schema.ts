import { Type, type Static } from '@sinclair/typebox';
import { t } from '../../../core/schema/types.ts';

const text = t.Nullable(Type.String());

export const Address = t.NamedObject(
  'Address',
  t.member.personal.all({
    address: text,
    address_2: text,
    address_3: text,
    zipcode: text,
    city: text,
  }),
);

type Text = string | null;

/** A literal, without computed names and spreads, which made the list of orders half as fast. */
export const toAddress = (
  address: Text,
  address_2: Text,
  address_3: Text,
  zipcode: Text,
  city: Text,
): Static<typeof Address> => ({ address, address_2, address_3, zipcode, city });

export const privateType = 2;
export const customerTypes = new Map([
  [1, 'Company'],
  [privateType, 'Private'],
]);
/** Not translated: the texts belong to the interface. */
export const customerStatuses = new Map([
  [1, 'Active'],
  [2, 'Deactivated'],
]);
