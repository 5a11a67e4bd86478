import { Type, type Static } from '@sinclair/typebox';
import { t } from '../../../core/schema/types.ts';

/** POST /v2/course-tags. */
export type TagBody = Static<typeof TagBody>;
export const TagBody = t.NamedObject('TagCreate', { title: t.Title() }, { examples: [{ title: 'Weekend' }] });

/** PUT /v2/course-tags/:id. */
export type TagChange = Static<typeof TagChange>;
export const TagChange = t.NamedObject('TagUpdate', t.partialUpdate(TagBody.properties), {
  examples: [{ title: 'Weekend' }],
});

/** A tag or label of a course: an own id, `{id}`, or `{title}`, which is created if missing. */
export type TagInput = Static<typeof TagInput>;
const TagInput = Type.Union([
  t.Id,
  t.NamedObject(
    'CourseTagInput',
    { id: Type.Optional(t.Id), title: Type.Optional(t.Title()) },
    { if: { properties: { id: {} }, required: ['id'] }, else: { properties: { title: {} }, required: ['title'] } },
  ),
]);
export const TagInputs = (description: string) => ({ ...t.JsonList(TagInput, { maxItems: 100 }), description });
