/** The text with the value in the place of `{}`. */
export const fill = (text: string, value: string | number) => text.replace('{}', () => String(value));

export const fillCount = ({ one, other }: { one: string; other: string }, count: number) =>
  fill(count === 1 ? one : other, count);
