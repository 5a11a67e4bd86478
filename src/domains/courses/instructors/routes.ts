import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { Type } from '@sinclair/typebox';
import { t } from '../../../core/schema/types.ts';
import { addPageRoute } from '../../../http/page-route.ts';
import { responses } from '../../../http/responses.ts';
import { InstructorBody, InstructorChange } from './body-schema.ts';
import { instructorList } from './list.ts';
import { Instructor } from './schema.ts';
import {
  archiveInstructor,
  createInstructor,
  getInstructor,
  instructorReferences,
  updateInstructor,
} from './service.ts';

const tags = ['Instructors'];
const readOnly = ['archived_at'];
const params = Type.Object({ id: t.Id });

export const instructorRoutes: FastifyPluginAsyncTypebox = async (app) => {
  addPageRoute(app, instructorList, {
    operationId: 'listInstructors',
    summary: 'List instructors',
    description: 'An array, with archived instructors.',
    tags,
    profiles: ['full', 'read', 'booking', 'publishable'],
    publicQuery: { parameters: ['limit', 'page', 'since_id'] },
  });

  app.post('', {
    schema: {
      operationId: 'createInstructor',
      summary: 'Create an instructor',
      description: '`idUser` connects the instructor to an admin user.',
      tags,
      profiles: ['full'],
      body: InstructorBody,
      response: responses.created(Instructor),
    },
    config: { idempotency: {}, readOnly, references: instructorReferences },
    handler: async ({ ctx, body }, reply) => {
      const created = await createInstructor(ctx, body);
      return reply.created(created.id, created);
    },
  });

  app.get('/:id', {
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
    handler: ({ ctx, params }) => getInstructor(ctx, params.id),
  });

  app.put('/:id', {
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
    config: { readOnly, references: instructorReferences },
    handler: ({ ctx, params, body }) => updateInstructor(ctx, params.id, body),
  });

  app.delete('/:id', {
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
    handler: ({ ctx, params }) => archiveInstructor(ctx, params.id),
  });
};
