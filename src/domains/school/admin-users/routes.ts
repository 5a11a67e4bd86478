import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { Type } from '@sinclair/typebox';
import { t } from '../../../core/schema/types.ts';
import { itemRoutes } from '../../../http/item-routes.ts';
import { listRoute } from '../../../http/list-cache/index.ts';
import { findKept, nameIgnored } from '../../../http/parsing/known-fields.ts';
import { responses, send } from '../../../http/responses.ts';
import { registerErrorHandler, formatV2Error, type ErrorFormatter } from '../../../http/errors/error-handler.ts';
import { AdminUser, AdminUserBody, AppUser, Role } from './fields.ts';
import {
  adminUserFilters,
  adminUserReferences,
  detachAdminUser,
  getAdminUser,
  listAdminUsers,
  listAppUsers,
  listRoles,
  saveAdminUser,
} from './service.ts';

const tags = ['People'];

const AdminUserError = t.NamedObject(
  'AdminUserError',
  {
    errors: t.NamedObject('AdminUserFieldErrors', {
      missing_fields: Type.Array(Type.String()),
      not_valid: Type.Array(Type.String()),
    }),
  },
  { examples: [{ errors: { missing_fields: ['email', 'role_ids'], not_valid: [] } }] },
);

const formatFieldLists: ErrorFormatter = (problem) =>
  problem.kind === 'invalid'
    ? { errors: { missing_fields: problem.missing, not_valid: [...problem.notValid, ...problem.unknown] } }
    : formatV2Error(problem);

export const adminUserRoutes: FastifyPluginAsyncTypebox = async (app) => {
  const items = itemRoutes(app, 'Admin user', tags, AdminUser);

  app.get('', {
    schema: {
      operationId: 'listAdminUsers',
      summary: 'List admin users',
      description: 'All admin users of the school.',
      tags,
      profiles: ['full', 'read'],
      querystring: adminUserFilters.Query,
      response: responses.ok(Type.Array(AdminUser)),
    },
    ...listRoute.cached(() => ['people']),
    handler: (request, reply) => send.whole(request, reply, listAdminUsers(listRoute.toCtx(request), request.query)),
  });

  items.get(getAdminUser, {
    operationId: 'getAdminUser',
    summary: 'Get an admin user',
    description: 'One that was detached is not found.',
    profiles: ['full', 'read'],
  });

  items.delete(detachAdminUser, {
    operationId: 'detachAdminUser',
    summary: 'Detach an admin user from the school',
    description:
      'Returns the admin user as it was. Its roles and its links end; customers, orders and instructors still name ' +
      'it. The last administrator cannot be detached. `POST /v2/admin-users` attaches the person again.',
  });

  await app.register(createAdminUserRoute);
};

/** Fields that do not change a person whose e-mail address is known. */
const keptFields = ['email', 'firstname', 'lastname', 'position', 'phone_prefix', 'phone', 'booking_email'] as const;

const createAdminUserRoute: FastifyPluginAsyncTypebox = async (app) => {
  registerErrorHandler(app, formatFieldLists);

  app.post('', {
    schema: {
      operationId: 'createAdminUser',
      summary: 'Create an admin user, or attach an existing person',
      description:
        'A person whose e-mail address is known keeps all profile fields and gets exactly these roles at ' +
        'this school: 200. A new person needs `firstname` and `lastname`: 201. Later schools get these names; ' +
        'those that they send are ignored. `X-Ignored-Parameters` names fields with values that are not taken.',
      tags,
      profiles: ['full'],
      body: AdminUserBody,
      response: { 200: AdminUser, ...responses.created(AdminUser), 400: AdminUserError },
    },
    config: { idempotency: {}, references: adminUserReferences },
    handler: async ({ ctx, body }, reply) => {
      const { user, isNew } = await saveAdminUser(ctx, body);
      if (isNew) return reply.created(user.id, user);
      nameIgnored(reply, findKept(body, user, keptFields));
      return user;
    },
  });
};

export const roleRoutes: FastifyPluginAsyncTypebox = async (app) => {
  app.get('', {
    schema: {
      operationId: 'listAdminRoles',
      summary: 'List admin roles',
      description: 'The roles of admin users.',
      tags,
      profiles: ['full', 'read'],
      response: responses.ok(Type.Array(Role)),
    },
    ...listRoute.cached(() => ['people']),
    handler: (request) => listRoles(listRoute.toCtx(request)),
  });
};

export const appUserRoutes: FastifyPluginAsyncTypebox = async (app) => {
  app.get('', {
    schema: {
      operationId: 'listAppUsers',
      summary: 'List sellers',
      description: 'The admin users that a customer can have as its seller.',
      tags,
      profiles: ['full', 'read'],
      response: responses.ok(Type.Array(AppUser)),
    },
    ...listRoute.cached(() => ['people']),
    handler: async (request) => listAppUsers(listRoute.toCtx(request)),
  });
};
