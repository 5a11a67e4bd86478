import type { Fields } from '../../record-type.ts';

/** A line of an import; others refer to it by kind and `ref`. */
export type Line = Fields & { kind: string; ref: string };

export const lines = (kind: string, items: (Fields & { ref: string })[]): Line[] =>
  items.map((item) => ({ kind, ...item }));
