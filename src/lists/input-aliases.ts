import type { TObject, TSchema } from '@sinclair/typebox';
import { getItems, isFields, parsed } from '../core/schema/coercion.ts';
import { coercionKind, findProperties } from '../core/schema/types.ts';

type Fields = Record<string, unknown>;
type Properties = Record<string, TSchema>;

/** The path of a GET that an update takes as input, or with a function that makes the input's value. */
export type InputAlias = string | [path: string, toInput: (value: unknown) => unknown];

/** Inputs of a PUT by the paths of a GET, the preferred first. */
export type InputAliases = Record<string, InputAlias[]>;

/**
 * Fills inputs that are not sent in their own form with the first alias that is sent. `known` is the schema of the names
 * that were taken, without those of inputs that were set aside.
 */
export function applyInputAliases(forms: InputAliases, schema: TObject, body: Fields) {
  const inputs = { ...body };
  const valueAt = createReader();
  let properties: Properties = { ...schema.properties };
  for (const [input, paths] of Object.entries(forms)) {
    const ways = paths.map((form) => (typeof form === 'string' ? ([form] as const) : form));
    const isInOther = ways.some(([path]) => path.split('.')[0] === input);
    if (Object.hasOwn(body, input) && isInput(schema.properties[input]!, body[input], isInOther)) continue;
    for (const [path, toInput] of ways) {
      const names = path.split('.');
      const value = valueAt(body, names);
      if (value === undefined) continue;
      inputs[input] = toInput ? toInput(value) : value;
      if (names[0] !== input) Reflect.deleteProperty(properties, input);
      if (path !== input) properties = withPath(properties, names);
      break;
    }
  }
  return { inputs, known: { ...schema, properties } };
}

/**
 * False for a text that is no code of the input, and for an object or a list: as JSON text, too, if the input is
 * `isInOther`, that is read in such a form.
 */
function isInput(schema: TSchema, value: unknown, isInOther: boolean) {
  if (isEmpty(value)) return true;
  if (typeof (isInOther ? toMembers(value) : value) === 'object') return false;
  const codes = schema['enum'] as unknown[] | undefined;
  const toCode = (one: unknown) => String(one).toUpperCase();
  return codes?.some((code) => toCode(code) === toCode(value)) ?? true;
}

const isEmpty = (value: unknown) => value === undefined || value === null || value === '';

const json = { [coercionKind]: 'json' } as unknown as TSchema;

/** A value that may be JSON text; undefined if that is malformed. */
const toMembers = (value: unknown) => parsed(json, value);

/** Reads values at paths, and parses each text once. Undefined if it is not sent; the members of an empty object are empty. */
function createReader() {
  const texts = new Map<unknown, unknown>();
  const toFields = (value: unknown) => {
    if (typeof value !== 'string') return value;
    if (!texts.has(value)) texts.set(value, toMembers(value));
    return texts.get(value);
  };
  return function valueAt(value: unknown, [name, ...path]: string[]): unknown {
    if (name === undefined || isEmpty(value)) return value;
    const fields = toFields(value);
    return isFields(fields) && Object.hasOwn(fields, name) ? valueAt(fields[name], path) : undefined;
  };
}

function withPath(properties: Properties, [name = '', ...path]: string[]): Properties {
  const members = findProperties(properties[name]);
  return { ...properties, [name]: { ...json, ...(path.length > 0 && { properties: withPath(members, path) }) } };
}

/** The key of a title; another value as it is. */
export const toKey = (titles: Iterable<[unknown, unknown]>) => (value: unknown) =>
  [...titles].find(([, title]) => title === value)?.[0] ?? value;

/** Changes each object of a list. */
export const toItems = (change: (item: Fields) => unknown) => (value: unknown) => {
  const list = toMembers(value);
  if (typeof list !== 'object' || list === null) return value;
  return getItems(list).map((item) => (isFields(item) ? change(item) : item));
};

/** The ids of embedded items. */
export const toIds = toItems((item) => (Object.hasOwn(item, 'id') ? item['id'] : item));
