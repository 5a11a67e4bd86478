import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { Type } from '@sinclair/typebox';
import * as t from '../../core/schema/types.ts';
import { listRoute } from '../../http/list-cache/index.ts';
import { responses, send } from '../../http/responses.ts';
import { InstructorBody, InstructorChange } from './body-schema.ts';
import { instructorList } from './list.ts';
import { Instructor } from './schema.ts';
import {
  archiveInstructor,
  createInstructor,
  getInstructor,
  instructorReferences,
  listInstructors,
  updateInstructor,
} from './service.ts';

const tags = ['Instructors'];
const readOnly = ['archived_at'];
const params = Type.Object({ id: t.Id });

export const instructorRoutes: FastifyPluginAsyncTypebox = async (app) => {
  app.get(
    '',
    {
      schema: {
        operationId: 'listInstructors',
        summary: 'List instructors',
        description: 'An array, with archived instructors.',
        tags,
        profiles: ['full', 'read', 'booking', 'publishable'],
        publicQuery: { parameters: ['limit', 'page', 'since_id'] },
        querystring: instructorList.Query,
        response: responses.ok(Type.Array(instructorList.View)),
      },
      ...listRoute.cached(instructorList.readAreas),
    },
    async (request, reply) =>
      send.items(request, reply, await listInstructors(listRoute.toCtx(request), request.query)),
  );

  app.post(
    '',
    {
      schema: {
        operationId: 'createInstructor',
        summary: 'Create an instructor',
        description: '`idUser` connects the instructor to an admin user.',
        tags,
        profiles: ['full'],
        body: InstructorBody,
        response: responses.created(Instructor),
      },
      config: { readOnly, references: instructorReferences },
    },
    async ({ ctx, body }, reply) => reply.code(201).send(await createInstructor(ctx, body)),
  );

  app.get(
    '/:id',
    {
      schema: {
        operationId: 'getInstructor',
        summary: 'Get an instructor',
        description: 'Archived or not.',
        tags,
        profiles: ['full', 'read', 'booking', 'publishable'],
        publicQuery: { parameters: [] },
        item: 'Instructor',
        params,
        response: responses.ok(Instructor),
      },
    },
    ({ ctx, params }) => getInstructor(ctx, params.id),
  );

  app.put(
    '/:id',
    {
      schema: {
        operationId: 'updateInstructor',
        summary: 'Update an instructor',
        description: 'Only the fields sent change. An empty `idUser` disconnects from the admin user.',
        tags,
        profiles: ['full'],
        item: 'Instructor',
        params,
        body: InstructorChange,
        response: responses.ok(Instructor),
      },
      config: {
        readOnly,
        readBack: { read: (ctx, { id }: { id: number }) => instructorList.byId(ctx, id) },
        references: instructorReferences,
      },
    },
    ({ ctx, params, body }) => updateInstructor(ctx, params.id, body),
  );

  app.delete(
    '/:id',
    {
      schema: {
        operationId: 'archiveInstructor',
        summary: 'Archive an instructor',
        description: 'The instructor stays listed, with `archived_at` set. A second request changes nothing.',
        tags,
        profiles: ['full'],
        item: 'Instructor',
        params,
        response: responses.ok(Instructor),
      },
    },
    ({ ctx, params }) => archiveInstructor(ctx, params.id),
  );
};
