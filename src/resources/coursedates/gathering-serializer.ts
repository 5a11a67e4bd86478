import * as tables from '../../database/tables/coursedates.ts';
import { defineSerializer } from '../../lists/serializer.ts';
import { loadLinkedInstructors } from '../instructors/serializer.ts';
import { includeLocation } from '../locations/serializer.ts';
import { Gathering, toGathering, type GatheringRow } from './gathering-schema.ts';

export const gatheringSerializer = defineSerializer<GatheringRow>()({
  reads: ['dates', 'catalog'],
  responseSchema: Gathering,
  relations: {
    instructors: loadLinkedInstructors(tables.gatheringInstructors, tables.gatheringInstructors.gatheringId),
  },
  toResponse: toGathering,
  includes: { location: includeLocation((row: GatheringRow) => row.locationId) },
  requiredIncludes: ['location'],
});
