import { sql } from 'drizzle-orm';
import { caseFoldedSql } from '../../../database/tables/columns.ts';
import { parseTimestamp } from '../../../core/timestamps.ts';
import { Problem } from '../../../core/errors.ts';
import {
  bundles,
  courseDateInstructors,
  courseDates,
  gatheringInstructors,
  gatherings,
} from '../../../database/tables/coursedates.ts';
import { importedCourseDate } from '../../../domains/courses/coursedates/fields.ts';
import { importedGathering } from '../../../domains/courses/gatherings/fields.ts';
import { links, storedFields, Ref, refersTo, type BulkRecordType, type Item } from '../record-type.ts';
import { tableFields, assertRealValues } from './table-fields.ts';

export const bundle: BulkRecordType = {
  kind: 'bundle',
  table: bundles,
  fields: tableFields(bundles),
};

const gathering: Item = {
  table: gatherings,
  fields: storedFields(importedGathering),
  derived: { zone: gatherings.zone },
  parts: {
    instructors: links(gatheringInstructors.gatheringId, gatheringInstructors.instructorId, 'instructor', 50),
  },
  complete(fields, { timezone }, date) {
    assertRealValues(fields, ['gathering_at', 'gathering_end_at']);
    const [from, to] = ['gathering_at', 'gathering_end_at'].map((name) => parseTimestamp(fields[name] as string)!);
    if (to! <= from!) throw Problem.invalidFields({ notValid: ['gathering_end_at'] });
    return { zone: date['timezone'] ?? timezone };
  },
};

/** Missing capacities are copied from the location, as at creation by the interface. */
const capacityOrLocationDefault = (column: string) =>
  `coalesce(v.${column}, (select l.${column} from locations l where l.provider_id = v.provider_id and l.id = v.location_id), 0)`;

/** Lines whose parent is of another course, or has a parent itself. */
const wrongParents = `
  select r.line from staged_lines r
  join staged_lines p on p.provider_id = $1 and p.ref_kind = 'coursedate' and p.ref = r.refs->'parent_id'->>1 and p.bad is not true
  where r.provider_id = $1 and r.kind = 'coursedate' and r.part = 0
    and (p.refs ? 'parent_id' or p.refs->'course_id' is distinct from r.refs->'course_id')
  union
  select r.line from staged_lines r
  join import_refs i on i.provider_id = $1 and i.kind = 'coursedate' and i.ref = r.refs->'parent_id'->>1
  join course_dates d on d.provider_id = $1 and d.id = i.item_id
  left join import_refs c on c.provider_id = $1 and c.kind = 'course' and c.ref = r.refs->'course_id'->>1
  where r.provider_id = $1 and r.kind = 'coursedate' and r.part = 0 and (d.parent_id is not null or d.course_id is distinct from c.item_id)`;

const trigger = (row: string) => caseFoldedSql(`btrim(${row}.data->>'trigger_value')`);
/** Lines with the trigger value of another child of the same parent. */
const repeatedTriggers = `
  with own as (
    select r.line, r.refs->'parent_id'->>1 as parent, ${trigger('r')} as trigger from staged_lines r
    where r.provider_id = $1 and r.kind = 'coursedate' and r.part = 0 and r.bad is not true and r.refs ? 'parent_id'
      and r.data->>'trigger_value' is not null and r.data->>'deleted_at' is null)
  select line from (select line, row_number() over (partition by parent, trigger order by line) as nth from own) n where nth > 1
  union
  select own.line from own
  join import_refs i on i.provider_id = $1 and i.kind = 'coursedate' and i.ref = own.parent
  join course_dates d on d.provider_id = $1 and d.parent_id = i.item_id and d.deleted_at is null
    and ${caseFoldedSql('btrim(d.trigger_value)')} = own.trigger`;

/** Compared in the database: with a daylight saving change, an end may come before its start. */
const endsBeforeStart = `
  with own as materialized
    (select line, data from staged_lines
      where provider_id = $1 and kind = 'coursedate' and part = 0 and bad is not true)
  select line from own where timezone(data->>'zone', (data->>'end_at')::date + coalesce((data->>'end_time_at')::time, '23:59:59'))
      <= timezone(data->>'zone', (data->>'start_at')::date + coalesce((data->>'start_time_at')::time, '00:00'))`;

const gatheringsBeforeStart = `
  with own as materialized
    (select line, data, row_number() over (partition by line order by part) - 1 as position
      from staged_lines where provider_id = $1 and kind = 'coursedate' and part > 0 and data ? 'gathering_at')
  select distinct on (line) line, format('gatherings[%s].gathering_end_at', position) as path
  from own where timezone(data->>'zone', (data->>'gathering_end_at')::timestamp)
      <= timezone(data->>'zone', (data->>'gathering_at')::timestamp)
  order by line, position`;

export const coursedate: BulkRecordType = {
  kind: 'coursedate',
  table: courseDates,
  checks: [
    { field: 'parent_id', text: wrongParents },
    { field: 'end_time_at', text: endsBeforeStart },
    { field: 'trigger_value', text: repeatedTriggers },
    { field: 'gathering_end_at', text: gatheringsBeforeStart },
  ],
  fields: {
    course_id: refersTo('course', courseDates.courseId, Ref),
    parent_id: refersTo('coursedate', courseDates.parentId),
    bundle_id: refersTo('bundle', courseDates.bundleId),
    ...storedFields(importedCourseDate),
  },
  derived: { zone: courseDates.zone },
  computed: {
    teaching_language_id: `coalesce(v.teaching_language_id,
      (select c.teaching_language_id from courses c where c.provider_id = v.provider_id and c.id = v.course_id))`,
    capacity_max: capacityOrLocationDefault('capacity_max'),
    capacity_min: capacityOrLocationDefault('capacity_min'),
    capacity_overbook: capacityOrLocationDefault('capacity_overbook'),
    capacity_wait: capacityOrLocationDefault('capacity_wait'),
  },
  parts: {
    instructors: links(courseDateInstructors.courseDateId, courseDateInstructors.instructorId, 'instructor', 50),
    gatherings: { form: 'list', maxItems: 200, kind: 'gathering', owner: gatherings.courseDateId, item: gathering },
  },
  complete(fields, { timezone: serviceZone, zones }) {
    fields['deadline_at'] ??= fields['start_at'];
    const { start_at: start, end_at: end, deadline_at: deadline, timezone } = fields as Record<string, string>;
    const { start_time_at: from = '00:00', end_time_at: to = '23:59:59' } = fields as Record<string, string>;
    const notValid = [
      ...(`${end} ${to}` <= `${start} ${from}` ? ['end_at'] : []),
      ...(deadline! > end! ? ['deadline_at'] : []),
      ...(timezone !== undefined && !zones.has(timezone) ? ['timezone'] : []),
    ];
    if (notValid.length > 0) throw Problem.invalidFields({ notValid });
    return { zone: timezone ?? serviceZone };
  },
  // A course's updated_at covers its dates.
  touches: (providerId, now, ids) => sql`
    update courses set updated_at = ${now}, related_items_updated_at = ${now} where provider_id = ${providerId} and id = any(array(
      select (select course_id from course_dates d where d.provider_id = ${providerId} and d.id = created.id) from (${ids}) created
    ))`,
};
