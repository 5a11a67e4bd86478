import { Type } from '@sinclair/typebox';
import * as t from '../../core/schema/types.ts';

/** A tag or a label. */
export const Tag = t.NamedObject('Tag', t.member.open.all({ id: Type.Integer(), title: Type.String() }));
