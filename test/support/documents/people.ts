/**
 * Customer, Course user and Admin user of the interface document, as `name: type` per field, with the documented
 * additions (app user, role). Transcribed from the document, not from the code.
 */
const address = {
  address: 'string|null',
  address_2: 'string|null',
  address_3: 'string|null',
  zipcode: 'string|null',
  city: 'string|null',
};

export const appUser = { id: 'integer', firstname: 'string', lastname: 'string', email: 'string' };

/** POST /v2/check-user-credentials; if `valid` is false, only that; `login_url` only on request. */
export const signOn = {
  valid: 'boolean',
  user_id: 'integer',
  firstname: 'string|null',
  lastname: 'string|null',
  email: 'string|null',
  login_url: 'string',
};

export const role = { id: 'integer', title: 'string', description: 'string' };

export const adminUser = {
  id: 'integer',
  firstname: 'string',
  lastname: 'string',
  email: 'string',
  position: 'string',
  phone_prefix: 'string',
  phone: 'string',
  booking_email: 'string',
  role_ids: ['integer'],
  created_at: 'string',
  updated_at: 'string',
};

/** POST /v2/admin-users, invalid input. */
export const customer = {
  id: 'integer',
  title: 'string',
  department: 'string|null',
  phone: 'string|null',
  fax: 'string|null',
  email: 'string|null',
  webaddress: 'string|null',
  orgnr: 'string|null',
  invoice_email: 'string|null',
  customer_reference_id: 'string|null',
  customer_reference: 'string|null',
  note: 'string|null',
  turnover: 'string|null',
  always_use_customer_reference: 'integer',
  idStatus: 'string',
  idParentCustomer: 'integer|null',
  invoice_method: 'string',
  country: { id: 'integer', title: 'string', code: 'string' },
  status: 'string',
  type: 'string',
  duedate_days: 'integer',
  'seller|null': appUser,
  invoice_address: address,
  post_address: address,
  visit_address: address,
  'custom_properties|null': {},
  created_at: 'string',
  updated_at: 'string',
};

export const courseUser = {
  id: 'integer',
  firstname: 'string|null',
  lastname: 'string|null',
  email: 'string|null',
  username: 'string|null',
  phone: 'string|null',
  company: 'string|null',
  orgnr: 'string|null',
  position: 'string|null',
  department: 'string|null',
  legaldepartment: 'string|null',
  date_of_birth: 'string|null',
  invoice_address: { ...address, invoice_phone: 'string|null' },
  home_address: address,
  work_address: address,
  external_id: 'string|null',
  company_employee_number: 'string|null',
  'custom_properties|null': {},
  'customer|null': customer,
  created_at: 'string',
  updated_at: 'string',
  information_gathered_at: 'string|null',
};

/** Added by `include`; always present for the type Private. */
export const customerIncludes = { employees: [courseUser], employees_truncated: 'boolean' };

/** Country codes that POST /v2/customers accepts, in document order. */
export const countryCodes =
  'AF AL DZ AS AD AO AI AG AR AM AW AU AT AZ BS BH BD BB BY BE BZ BJ BM BT BO BA BW BR VG BN BG BF BI KH CM CA CV KY CF TD CL CN CX CC CO KM CG CD CK CR HR CU CW CY CZ CI DK DJ DM DO TL EC EG SV GQ ER EE ET FK FO FM FJ FI FR GF PF GA GM GE DE GH GI GR GL GD GP GU GT GG GN GW GY HT HN HK HU IS IN ID IR IQ IE IM IL IT JM JP JE JO KZ KE KI XK KW KG LA LV LB LS LR LY LI LT LU MO MK MG MW MY MV ML MT MH MQ MR MU MX MD MC MN ME MS MA MZ MM NA NR NP NL AN NC NZ NI NE NG NU NF MP KP NO OM PK PW PS PA PG PY PE PH PN PL PT PR QA RE RO RU RW SH KN LC VC WS SM ST SA SN RS SC SL SG SX SK SI SB SO ZA GS KR SS ES LK SD SR SZ SE CH SY TW TJ TZ TH TG TK TO TT TN TR TM TC TV UG UA AE GB UY US UZ VU VA VE VN VI EH YE ZM ZW'.split(
    ' ',
  );
