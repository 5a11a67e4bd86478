import { Type } from '@sinclair/typebox';
import { t } from '../../core/schema/types.ts';

export const Tag = t.NamedObject('Tag', t.member.open.all({ id: Type.Integer(), title: Type.String() }));
