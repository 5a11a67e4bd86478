import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { itemRoutes } from '../../../http/item-routes.ts';
import { addPageRoute } from '../../../http/page-route.ts';
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

export const instructorRoutes: FastifyPluginAsyncTypebox = async (app) => {
  const items = itemRoutes(app, 'Instructor', tags, Instructor);

  addPageRoute(app, instructorList, {
    operationId: 'listInstructors',
    summary: 'List instructors',
    description: 'An array, with archived instructors.',
    tags,
    profiles: ['full', 'read', 'booking', 'publishable'],
    publicQuery: { parameters: ['limit', 'page', 'since_id'] },
  });

  items.post(createInstructor, {
    operationId: 'createInstructor',
    summary: 'Create an instructor',
    description: '`idUser` connects the instructor to an admin user.',
    body: InstructorBody,
    config: { readOnly, references: instructorReferences },
  });

  items.get(getInstructor, {
    operationId: 'getInstructor',
    summary: 'Get an instructor',
    description: 'Archived or not.',
    profiles: ['full', 'read', 'booking', 'publishable'],
    publicQuery: { parameters: [] },
  });

  items.put(updateInstructor, {
    operationId: 'updateInstructor',
    summary: 'Update an instructor',
    description: 'Only the fields sent change. An empty `idUser` disconnects from the admin user.',
    body: InstructorChange,
    config: { readOnly, references: instructorReferences },
  });

  items.delete(archiveInstructor, {
    operationId: 'archiveInstructor',
    summary: 'Archive an instructor',
    description: 'The instructor stays listed, with `archived_at` set. A second request changes nothing.',
  });
};
