import type { Static } from '@sinclair/typebox';
import { t } from '../../core/schema/types.ts';

/** POST /v2/course-tags. */
export type TagBody = Static<typeof TagBody>;
export const TagBody = t.NamedObject('TagCreate', { title: t.Title() }, { examples: [{ title: 'Weekend' }] });
