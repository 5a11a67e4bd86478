import { Type } from '@sinclair/typebox';

/** A tag or a label. */
export const Tag = Type.Object({ id: Type.Integer(), title: Type.String() });
