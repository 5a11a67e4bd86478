const maxWidth = 120;

/** JSON with each value on one line where it fits, for snapshots. */
export function toCompactJson(value: unknown, indent = '', prefix = ''): string {
  const line = JSON.stringify(value);
  if (typeof value !== 'object' || value === null || indent.length + prefix.length + line.length < maxWidth)
    return line;
  const inner = `${indent}  `;
  const members = Array.isArray(value)
    ? value.map((one) => `${inner}${toCompactJson(one, inner)}`)
    : Object.entries(value)
        .filter(([, one]) => one !== undefined)
        .map(([name, one]) => {
          const key = `${JSON.stringify(name)}: `;
          return `${inner}${key}${toCompactJson(one, inner, key)}`;
        });
  const [open, close] = Array.isArray(value) ? ['[', ']'] : ['{', '}'];
  return `${open}\n${members.join(',\n')}\n${indent}${close}`;
}
