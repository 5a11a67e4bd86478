const toAddress = (prefix: string) =>
  ['address', 'address_2', 'address_3', 'zipcode', 'city'].map((field) => `${prefix}_${field}`).join(', ');

/** Copies the name and the address of the person, who goes, to the invoices `$3` without a booker. */
export const keepPayer = {
  name: 'keep_payer',
  text: `update orders o set updated_at = $4, booker = coalesce(nullif(concat_ws(' ', u.firstname, u.lastname), ''), u.email),
      (${toAddress('invoice')}) = (select ${toAddress('a.invoice')} from (values
        (1, ${toAddress('o.invoice')}), (2, ${toAddress('u.invoice')}), (3, ${toAddress('u.home')})
      ) a (n, ${toAddress('invoice')}) order by concat(${toAddress('a.invoice')}) = '', n limit 1)
    from course_users u where u.provider_id = $1 and u.id = $2 and o.provider_id = $1 and o.id = any($3::bigint[])
      and concat(o.booker) = ''`,
};
