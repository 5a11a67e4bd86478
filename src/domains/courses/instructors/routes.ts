import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { itemRoutes } from '../../../http/item-routes.ts';
import { addPageRoute } from '../../../http/page-route.ts';
import { Instructor, InstructorBody, InstructorChange } from './fields.ts';
import { instructorList } from './list.ts';
import { instructorOperations, instructorReferences } from './service.ts';

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

  items.post(instructorOperations.create, {
    operationId: 'createInstructor',
    summary: 'Create an instructor',
    description: '`idUser` connects the instructor to an admin user.',
    body: InstructorBody,
    config: { readOnly, references: instructorReferences },
  });

  items.get(instructorOperations.get, {
    operationId: 'getInstructor',
    summary: 'Get an instructor',
    description: 'Archived or not.',
    profiles: ['full', 'read', 'booking', 'publishable'],
    publicQuery: { parameters: [] },
  });

  items.put(instructorOperations.update, {
    operationId: 'updateInstructor',
    summary: 'Update an instructor',
    description: 'Only the fields sent change. An empty `idUser` disconnects from the admin user.',
    body: InstructorChange,
    config: { readOnly, references: instructorReferences },
  });

  items.delete(instructorOperations.archive, {
    operationId: 'archiveInstructor',
    summary: 'Archive an instructor',
    description: 'The instructor stays listed, with `archived_at` set. A second request changes nothing.',
  });
};
