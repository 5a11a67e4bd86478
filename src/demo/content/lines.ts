import type { Fields } from '../../import-export/record-type.ts';

/** A line as an import reads it; other lines refer to it by its kind and `ref`. */
export type Line = Fields & { kind: string; ref: string };

/** Several lines of one kind. */
export const lines = (kind: string, items: (Fields & { ref: string })[]): Line[] =>
  items.map((item) => ({ kind, ...item }));
