import { Type } from '@sinclair/typebox';
import { t } from '../../../core/schema/types.ts';

const text = Type.String();

/** A category of the catalog, which all schools share. */
export const Category = t.NamedObject(
  'Category',
  t.member.open.all({ id: Type.Integer(), title: text, idParent: Type.Integer(), titleParent: text }),
);
