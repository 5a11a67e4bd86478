import { Type } from '@sinclair/typebox';
import * as t from '../../core/schema/types.ts';

/** A tag or a label. */
export const Tag = t.NamedObject('Tag', { id: Type.Integer(), title: Type.String() });
