/** The first 200 characters of sanitized texts, without tags. */
export function toSummary(html: string[]): string | undefined {
  const text = html
    .join(' ')
    .replace(/<[^<>]*>/g, ' ')
    .replace(/&(amp|lt|gt|quot|nbsp|#39);/g, (_entity, name: string) => entities[name] ?? ' ')
    .replace(/\s+/g, ' ')
    .trim();
  if (text === '') return undefined;
  if (text.length <= 200) return text;
  // Without the rest of a word, or half a character.
  return `${text
    .slice(0, 201)
    .replace(/\s\S*$/, '')
    .slice(0, 200)
    .replace(/[\ud800-\udbff]$/, '')} …`;
}
const entities: Record<string, string> = { amp: '&', lt: '<', gt: '>', quot: '"', '#39': "'" };
