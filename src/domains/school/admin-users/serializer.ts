import { relation } from '../../../lists/relations.ts';
import { defineSerializer } from '../../../lists/serializer.ts';
import { fetchRoleIds } from './loaders.ts';
import { AdminUser, toAdminUser, type AdminUserRow } from './schema.ts';

const loadRoleIds = relation.hasMany(fetchRoleIds, ({ roleId }) => roleId);

export const adminUserSerializer = defineSerializer<AdminUserRow>()({
  reads: ['people'],
  responseSchema: AdminUser,
  relations: { role_ids: loadRoleIds },
  toResponse: toAdminUser,
});
