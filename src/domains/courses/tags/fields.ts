import { Type, type Static } from '@sinclair/typebox';
import { t } from '../../../core/schema/types.ts';
import { tags as c } from '../../../database/tables/catalog.ts';
import { fieldsOf } from '../../../lists/fields.ts';

const { define, open, closed } = fieldsOf<Pick<typeof c.$inferSelect, 'id' | 'title' | 'updatedAt'>>();
const fields = define({ id: open(c.id), title: open(c.title, t.Title()), updated_at: closed(c.updatedAt) });

/** Inside a course. */
export const Tag = fields.schema('Tag', ['updated_at']);

/** GET /v2/course-tags. */
export const [ListedTag, toListedTag] = fields.item('ListedTag');

/** POST /v2/course-tags. */
export type TagBody = Static<typeof TagBody>;
export const TagBody = fields.body('TagCreate', { examples: [{ title: 'Weekend' }] });

/** PUT /v2/course-tags/:id. */
export type TagChange = Static<typeof TagChange>;
export const TagChange = fields.update('TagUpdate', { examples: [{ title: 'Weekend' }] });

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
