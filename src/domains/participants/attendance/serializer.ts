import { t } from '../../../core/schema/types.ts';
import type { Key } from '../../../lists/loaders.ts';
import { relation } from '../../../lists/relations.ts';
import { fetchAttendanceSummaries } from './loaders.ts';
import { AttendanceSummary } from './schema.ts';

export const loadAttendanceSummary = relation.required(
  relation.belongsTo(
    (participant: Key) => participant.id,
    fetchAttendanceSummaries,
    ({ share, minutes }) => ({ attended_share: share, minutes }),
  ),
);

export const includeAttendanceSummary = relation.include(t.member.personal(AttendanceSummary), loadAttendanceSummary);
