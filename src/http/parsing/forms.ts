import { setImmediate as nextTurn } from 'node:timers/promises';
import qs from 'qs';
import { jsonLimits } from '../../core/json.ts';
import { isFields, type Fields } from './differences.ts';

/** `slice`: fields that are parsed in one turn of the event loop. */
export const formLimits = { keys: 5_000, items: 1_000, slice: 500 };

/**
 * Parses `name[0]=a&name[1]=b`, `name[]=a` and `name[key]=v`. Invalid UTF-8 becomes U+FFFD, which no field accepts.
 * Throws a RangeError beyond the limits.
 */
export const parseFormText = (text: string) => parsePairs(text.split('&', formLimits.keys + 1), decodeFormText);

/** Parses the fields of a multipart body like the equivalent url-encoded form; values need no escapes. */
export function parseFields(fields: [name: string, value: string][]) {
  const pairs = fields.map(([name], n) => `${encodeURIComponent(name.toWellFormed())}=${n}`);
  return parsePairs(pairs, (text, type) =>
    type === 'value' ? fields[Number(text)]![1].toWellFormed() : decodeFormText(text),
  );
}

async function parsePairs(pairs: string[], decode: (text: string, type?: string) => string): Promise<Fields> {
  if (pairs.length > formLimits.keys) throw new RangeError('The form has too many fields');
  const form = Object.create(null) as Fields;
  for (let start = 0; start < pairs.length; start += formLimits.slice) {
    if (start > 0) await nextTurn();
    mergeInto(form, parseSlice(pairs.slice(start, start + formLimits.slice).join('&'), decode));
  }
  if (pairs.length > formLimits.slice) await nextTurn();
  return form;
}

const parseSlice = (text: string, decode: (text: string, type?: string) => string): Fields =>
  qs.parse(text, {
    depth: jsonLimits.depth,
    strictDepth: true,
    // The field's schema decides between a list and an object with numeric keys.
    parseArrays: false,
    parameterLimit: formLimits.slice,
    // Maximum repetitions of a name; qs copies the list for each.
    arrayLimit: formLimits.items,
    throwOnLimitExceeded: true,
    plainObjects: true,
    decoder: (part: string, _default, _charset, type) => decode(part, type),
  });

/** As qs merges fields: the values of a name that occurs again form a list. */
function mergeInto(form: Fields, slice: Fields) {
  for (const [name, value] of Object.entries(slice)) {
    const known = form[name];
    if (known === undefined) form[name] = value;
    else if (isFields(known) && isFields(value)) mergeInto(known, value);
    else {
      const list = [known, value].flat();
      if (list.length > formLimits.items) throw new RangeError('A field has too many values');
      form[name] = list;
    }
  }
}

function decodeFormText(text: string) {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '));
  } catch {
    return '\uFFFD';
  }
}
