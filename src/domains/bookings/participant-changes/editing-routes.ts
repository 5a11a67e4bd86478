import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { Type } from '@sinclair/typebox';
import { t } from '../../../core/schema/types.ts';
import { findKept, nameIgnored } from '../../../http/parsing/ignored-names.ts';
import { responses } from '../../../http/responses.ts';
import { participantSerializer } from '../../participants/participants/serializer.ts';
import type { CourseUser } from '../../people/users/schema.ts';
import { ParticipantChange } from './body-schema.ts';
import { updateParticipant } from './editing-service.ts';

const readForms = { idStatus: ['status.id'], idPaid: ['paid.id'] };

/** Fields that do not change a known person. */
const personFields = ['firstname', 'lastname', 'email', 'phone', 'company', 'position', 'date_of_birth'] as const;

export const participantEditingRoutes: FastifyPluginAsyncTypebox = async (app) => {
  app.put('/:id', {
    schema: {
      operationId: 'updateParticipant',
      summary: 'Update a participant',
      description:
        'Only the fields sent change. A status that holds a seat takes one as a booking does, and is ' +
        'refused without a free seat; 4 and 8 free the seat for the waiting list.',
      tags: ['Orders'],
      profiles: ['full'],
      item: 'Participant',
      params: Type.Object({ id: t.Id }),
      body: ParticipantChange,
      response: responses.ok(participantSerializer.schema),
    },
    config: { readForms },
    handler: async ({ ctx, params, body }, reply) => {
      const participant = await updateParticipant(ctx, params.id, body);
      const { user } = participant as typeof participant & { user: CourseUser };
      const kept = findKept(body.user ?? {}, user, personFields).map((name) => `user.${name}`);
      nameIgnored(reply, kept);
      return participant;
    },
  });
};
