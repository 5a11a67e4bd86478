import { gatheringInstructors } from '../../../database/tables/coursedates.ts';
import { relation } from '../../../lists/relations.ts';
import { defineSerializer } from '../../../lists/serializer.ts';
import { loadLinkedInstructors } from '../instructors/serializer.ts';
import { includeLocation } from '../locations/serializer.ts';
import { member } from '../../../core/schema/types.ts';
import { fetchGatherings } from './loaders.ts';
import { Gathering, toGathering, type GatheringRow } from './schema.ts';

const gatheringSerializer = defineSerializer<GatheringRow>()({
  reads: ['dates', 'catalog'],
  responseSchema: Gathering,
  relations: {
    instructors: loadLinkedInstructors(gatheringInstructors, gatheringInstructors.gatheringId),
  },
  toResponse: toGathering,
  includes: { location: includeLocation((row: GatheringRow) => row.locationId) },
  requiredIncludes: ['location'],
});

export const includeGatherings = relation.includeMany(fetchGatherings, gatheringSerializer, member.open);
