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
  'backup_runs',
];
