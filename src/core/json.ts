import { parse } from 'secure-json-parse';
import { Problem } from './errors.ts';

/** The most that one JSON text holds: its parsing blocks the event loop, above all that of many different names. */
export const jsonLimits = { depth: 5, values: 50_000, fields: 20_000 };

const codes = { quote: 34, comma: 44, colon: 58, backslash: 92, list: 91, listEnd: 93, object: 123, objectEnd: 125 };

/** Parses JSON within the limits; names that would reach a prototype are removed, or are an error. */
export function parseJson(text: string, action: 'remove' | 'error'): unknown {
  refuseLargeJson(text);
  return parse(text, undefined, { protoAction: action, constructorAction: action });
}

/** Counts before parsing; of a text that is no JSON it counts whatever looks like it. */
function refuseLargeJson(text: string) {
  let [depth, values, fields] = [0, 0, 0];
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === codes.quote) at = endOfString(text, at);
    else if (code === codes.comma) values += 1;
    else if (code === codes.colon) fields += 1;
    else if (code === codes.list || code === codes.object) {
      depth += 1;
      values += isEmptyFrom(text, at + 1) ? 0 : 1;
    } else if (code === codes.listEnd || code === codes.objectEnd) depth -= 1;
    if (depth > jsonLimits.depth + 1) throw new Problem('invalid', 'The body is nested too deeply');
    if (values > jsonLimits.values) throw tooMany(jsonLimits.values, 'values');
    if (fields > jsonLimits.fields) throw tooMany(jsonLimits.fields, 'named fields');
  }
}

const tooMany = (count: number, things: string) => new Problem('invalid', `The body has more than ${count} ${things}`);

function endOfString(text: string, start: number): number {
  for (let end = text.indexOf('"', start + 1); end >= 0; end = text.indexOf('"', end + 1)) {
    let before = end - 1;
    while (text.charCodeAt(before) === codes.backslash) before -= 1;
    if ((end - before) % 2 === 1) return end;
  }
  return text.length;
}

/** True if the next character that is no blank closes the list or object. */
function isEmptyFrom(text: string, start: number) {
  let at = start;
  while (' \t\r\n'.includes(text.charAt(at)) && at < text.length) at += 1;
  return ']}'.includes(text.charAt(at));
}
