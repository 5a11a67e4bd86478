/** Tables without a provider, or read before it is known. */
export const sharedTables = [
  'service_state',
  'categories',
  'places',
  'providers',
  'admin_users',
  'api_keys',
  'partner_connections',
  'catalog_addresses',
  'catalog_names',
  'backup_runs',
];
