import { Type } from '@sinclair/typebox';

/** A word of the provider's own for its courses; labels have the same shape. */
export const Tag = Type.Object({ id: Type.Integer(), title: Type.String() });
