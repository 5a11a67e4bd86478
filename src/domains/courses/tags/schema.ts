import { Type } from '@sinclair/typebox';
import { t } from '../../../core/schema/types.ts';

/** Inside a course. */
export const Tag = t.NamedObject('Tag', t.member.open.all({ id: Type.Integer(), title: Type.String() }));

/** GET /v2/course-tags. */
export const ListedTag = t.NamedObject('ListedTag', {
  ...Tag.properties,
  updated_at: t.member.closed(t.DateTime),
});
