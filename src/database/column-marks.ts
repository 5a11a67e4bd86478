/** `personal`: of or about a person, and erased with it. `financial`: stays with the accounts. */
export type Mark = 'personal' | 'financial' | 'operational';

/** The marks of columns by their type; columns of other types are in `marksByName`. */
export const marksByType: Record<string, Mark> = {
  bigint: 'operational',
  integer: 'operational',
  smallint: 'operational',
  boolean: 'operational',
  'double precision': 'operational',
  'time without time zone': 'operational',
  'timestamp without time zone': 'operational',
  'timestamp with time zone': 'operational',
  numeric: 'financial',
  // The words of other columns, which go with them.
  tsvector: 'operational',
};

const address = (name: string) =>
  ['', '_2', '_3'].map((line) => `${name}_address${line}`).join(' ') + ` ${name}_zipcode ${name}_city`;
const texts =
  'text_lead text_description text_place text_prerequisites text_duration text_credits text_submissions ' +
  'text_hotel_info text_audience';

/** The names of the columns of each table, separated by blanks. */
const marksByName: Record<string, Partial<Record<Mark, string>>> = {
  admin_memberships: { personal: 'firstname lastname position phone_prefix phone booking_email' },
  admin_users: { personal: 'email firstname lastname password_hash' },
  api_keys: { operational: 'hash label profile origins' },
  attendance_marks: { personal: 'nonce' },
  audit_entries: { operational: 'actor action item_ids' },
  backup_runs: { operational: 'file error restore_test' },
  booking_links: { personal: 'hash earlier_hashes' },
  booking_settings: { operational: 'late_cancellation language mails texts' },
  bookings: { personal: 'booker_name booker_email booker_phone', operational: 'booker_language_id language' },
  bundles: { operational: 'title' },
  calendar_feeds: { personal: 'hash' },
  campaigns: { financial: 'campaign_code currency discount_type', operational: 'title type' },
  catalog_addresses: { operational: 'address' },
  catalog_names: { operational: 'name' },
  catalog_posts: { personal: 'address_hash recipients fingerprint', operational: 'key_hash' },
  catalog_settings: { operational: 'slug host theme fields terms_url privacy_url withdrawal_text' },
  categories: { operational: 'title slug' },
  course_dates: {
    operational:
      'title start_at end_at deadline_at timezone zone event_url external_booking_url reference trigger_value ' +
      'teaching_language_id place_additional_info internal_note custom_properties waiting_mode cancellation_message',
  },
  course_interests: { personal: 'email name link_hash earlier_hashes', operational: 'language' },
  course_translations: { operational: `language_id ${texts}` },
  course_users: {
    personal:
      'username password_hash firstname lastname email phone company orgnr position department legaldepartment ' +
      `date_of_birth ${address('invoice')} invoice_phone ${address('home')} home_phone ${address('work')} work_phone ` +
      'external_id company_employee_number custom_properties',
  },
  courses: {
    financial: 'price_currency price_comment',
    operational:
      'title slug reference reference_internal type publishing_platform teaching_language_id external_booking_url ' +
      `external_more_info_url email_booking email_more_info ${texts} custom_properties visit_address visit_address2 ` +
      'visit_zipcode visit_city',
  },
  customers: {
    personal:
      'title department orgnr email phone fax webaddress customer_reference_id customer_reference note turnover ' +
      `invoice_email ${address('invoice')} ${address('post')} ${address('visit')} custom_properties`,
    operational: 'country invoice_method',
  },
  date_notices: { operational: 'kind' },
  erasures: { operational: 'mails' },
  events: { operational: 'resource change' },
  gatherings: { operational: 'zone description theme event_url' },
  idempotency_records: { personal: 'answer', operational: 'key_hash fingerprint' },
  import_refs: { personal: 'ref content', operational: 'kind' },
  instructors: { personal: 'firstname lastname phone_prefix phone email position company description' },
  labels: { operational: 'title' },
  locations: {
    operational:
      'title custom_title address address2 address3 zipcode city state county country timezone long_text short_text ' +
      'short_text_2 email_booking email_moreinfo',
  },
  orders: {
    personal: `your_reference booker gln_number ${address('invoice')} invoice_email custom_properties credit_reason`,
    financial: 'currency payment_method kind',
    operational: 'title title_detailed',
  },
  outbox: { personal: 'last_error address', operational: 'purpose before failure' },
  participants: {
    personal: 'user_comment invoice_reference custom_properties',
    operational: 'entry_source certificate_issued_at held_for',
  },
  partner_connections: { operational: 'status' },
  payments: { personal: 'reference', financial: 'method' },
  places: { operational: 'title country' },
  products: {
    financial: 'item_number currency account_number cost_unit external_id',
    operational: 'title title_label',
  },
  providers: {
    operational:
      'title slug reference org_nr phone email_admin email email_booking email_more_info post_address post_zip ' +
      'post_city visit_address visit_zip visit_city web_address text_tagline text_description',
  },
  refused_addresses: { personal: 'email reason subject' },
  roles: { operational: 'title description' },
  service_state: { operational: 'releases secret uid_host' },
  sessions: { personal: 'hash' },
  sign_on_failures: { personal: 'username_hash' },
  staged_lines: { personal: 'data refs ref unique_text content', operational: 'kind table ref_kind' },
  tags: { operational: 'title' },
  tokens: { personal: 'hash earlier_hashes', operational: 'purpose' },
  vouchers: { financial: 'code currency' },
  webhook_deliveries: { operational: 'message_id type error' },
  webhook_tests: { operational: 'token' },
  webhooks: {
    operational: 'url host types description payload secret previous_secret resyncs leased_by disabled_reason',
  },
};

/** The columns of a table with a mark, of those that are marked by name. */
export const markedColumns = (table: string, mark: Mark) => marksByName[table]?.[mark]?.split(' ') ?? [];

/** The tables with columns that are marked by name. */
export const markedTables = Object.keys(marksByName);
