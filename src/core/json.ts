import { parse } from 'secure-json-parse';
import { Problem } from './errors.ts';

/** Maximum size of a JSON text. Parsing blocks the event loop, longest for many distinct names. */
export const jsonLimits = { depth: 5, values: 50_000, fields: 20_000 };

const charCodes = {
  quote: 34,
  comma: 44,
  colon: 58,
  backslash: 92,
  list: 91,
  listEnd: 93,
  object: 123,
  objectEnd: 125,
};

/** Parses JSON within the limits. `action` applies to `__proto__` and `constructor`. Throws on invalid or large JSON. */
export function parseJson(text: string, action: 'remove' | 'error'): unknown {
  assertWithinLimits(text);
  return parse(text, undefined, { protoAction: action, constructorAction: action });
}

/** Counts before parsing; counts in invalid JSON are approximate. */
function assertWithinLimits(text: string) {
  let [depth, values, fields] = [0, 0, 0];
  for (let index = 0; index < text.length; index += 1) {
    const code = text.charCodeAt(index);
    if (code === charCodes.quote) index = findStringEnd(text, index);
    else if (code === charCodes.comma) values += 1;
    else if (code === charCodes.colon) fields += 1;
    else if (code === charCodes.list || code === charCodes.object) {
      depth += 1;
      values += closesAt(text, index + 1) ? 0 : 1;
    } else if (code === charCodes.listEnd || code === charCodes.objectEnd) depth -= 1;
    if (depth > jsonLimits.depth + 1) throw new Problem('invalid', 'The body is nested too deeply');
    if (values > jsonLimits.values) throw tooMany(jsonLimits.values, 'values');
    if (fields > jsonLimits.fields) throw tooMany(jsonLimits.fields, 'named fields');
  }
}

const tooMany = (limit: number, noun: string) => new Problem('invalid', `The body has more than ${limit} ${noun}`);

function findStringEnd(text: string, start: number): number {
  for (let end = text.indexOf('"', start + 1); end >= 0; end = text.indexOf('"', end + 1)) {
    let before = end - 1;
    while (text.charCodeAt(before) === charCodes.backslash) before -= 1;
    if ((end - before) % 2 === 1) return end;
  }
  return text.length;
}

/** True if the next non-blank character closes a list or object. */
function closesAt(text: string, start: number) {
  let index = start;
  while (' \t\r\n'.includes(text.charAt(index)) && index < text.length) index += 1;
  return ']}'.includes(text.charAt(index));
}
