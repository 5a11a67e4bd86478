import type { TObject, TSchema } from '@sinclair/typebox';
import type { Ctx } from '../../database/context.ts';
import { Problem } from '../../core/errors.ts';
import { findDifferences, isEmpty, isFields, toFields, type Fields } from './differences.ts';
import { otherLanguage } from '../../core/reference/language.ts';
import { emptyValue } from '../../core/schema/types.ts';

/** How a PUT takes what a GET returned: members in the form in which they are read, if they are equal to the item's. */
export type ReadBack = {
  /** The item, with what GET embeds under these names; undefined or `not_found` if there is none. */
  read(ctx: Ctx, params: never, names: string[]): Promise<object | undefined>;
  /** Input fields by the paths of the members that show them under another name or in another form. */
  inputs?: Record<string, string>;
};

type Request = { ctx: Ctx; params: Fields; body: Fields; readOnly: readonly string[] };

/**
 * Removes from a body what equals the item, and returns its names as `unchanged`. Fields whose read form differs are
 * returned as `notValid`; a required field whose read form is equal is filled in. Other names stay.
 */
export async function takeReadBack({ read, inputs = {} }: ReadBack, schema: TObject, request: Request) {
  const { ctx, params, body, readOnly } = request;
  const result = { rest: body, notValid: [] as string[], unchanged: [] as string[] };
  const isRead = (name: string) =>
    !readOnly.includes(name) &&
    (isReadForm(name, body[name], schema, inputs) || isEmptyRequired(name, body[name], schema));
  const names = Object.keys(body).filter(isRead);
  if (names.length === 0 || !Object.values(params).every(Number.isSafeInteger)) return result;
  const readIn = (language: Ctx['language']) => readItem(() => read({ ...ctx, language }, params as never, names));
  const item = await readIn(ctx.language);
  if (item === undefined) return result;

  const rest = Object.assign(Object.create(null), body) as Fields;
  let inOtherLanguage: Fields | undefined;
  for (const name of names) {
    if (!Object.hasOwn(item, name)) continue;
    let paths = findDifferences(body[name], item[name], name);
    if (paths.length > 0) {
      inOtherLanguage ??= (await readIn(otherLanguage(ctx.language))) ?? {};
      const others = findDifferences(body[name], inOtherLanguage[name], name);
      paths = paths.filter((path) => others.includes(path));
    }
    if (isEmptyRequired(name, body[name], schema)) {
      if (paths.length > 0) continue;
      Reflect.deleteProperty(rest, name);
      if (schema.required?.includes(name)) result.unchanged.push(name);
      continue;
    }
    const differing = paths.flatMap((path) => inputsAt(inputs, path));
    const isOfOther = differing.every((field) => !Object.hasOwn(schema.properties, field));
    const isList = Object.hasOwn(schema.properties, name) && Array.isArray(item[name]);
    if (paths.length > 0 && (differing.length === 0 || isList || (isOfOther && !hasId(body[name])))) continue;
    Reflect.deleteProperty(rest, name);
    if (paths.length === 0) result.unchanged.push(name);
    result.notValid.push(...differing);
    result.unchanged.push(...fillRequired(rest, schema, inputs, { name, item }));
  }
  return { ...result, rest };
}

/** True for a name that is no input, and for an input in the form in which it is read. */
function isReadForm(name: string, value: unknown, { properties }: TObject, inputs: Record<string, string>) {
  if (!Object.hasOwn(properties, name)) return true;
  if (value === null || value === '') return false;
  if (!Object.keys(inputs).some((path) => path === name || path.startsWith(`${name}.`))) return false;
  const { type, enum: codes } = properties[name] as unknown as { type: string | string[]; enum?: unknown[] };
  if ([type].flat().includes('array')) return isListOfItems(value);
  const fields = toFields(value);
  // An object that is an input is a new one without its id, and a reference with nothing else.
  if (fields !== undefined) {
    const isReference = Object.keys(fields).join() === 'id' && hasMember(properties[name], 'id');
    return Object.keys(fields).length > 0 && (![type].flat().includes('object') || (hasId(value) && !isReference));
  }
  const text = typeof value === 'string' ? value.toUpperCase() : undefined;
  return text !== undefined && codes !== undefined && !codes.some((code) => String(code).toUpperCase() === text);
}

const hasMember = (schema: TSchema | undefined, name: string) =>
  Object.hasOwn((schema?.['properties'] ?? {}) as object, name);
const hasId = (value: unknown) => toFields(value)?.['id'] !== undefined;
function isListOfItems(value: unknown) {
  const list = toFields(value);
  return list !== undefined && Object.values(list).some((item) => isFields(item) && 'id' in item);
}

async function readItem(read: () => Promise<object | undefined>) {
  try {
    return (await read()) as Fields | undefined;
  } catch (error) {
    if (error instanceof Problem && error.kind === 'not_found') return undefined;
    throw error;
  }
}

/** The inputs of the member at a path: its own, else that of the closest object around it, else those of its members. */
function inputsAt(inputs: Record<string, string>, path: string): string[] {
  const parts = path.split('.');
  for (let length = parts.length; length > 0; length -= 1) {
    const input = inputs[parts.slice(0, length).join('.')];
    if (input !== undefined) return [input];
  }
  return Object.entries(inputs).flatMap(([at, input]) => (at.startsWith(`${path}.`) ? [input] : []));
}

/** Fills required inputs with the values of a member, and returns the names of those that are empty. */
function fillRequired(
  rest: Fields,
  { required = [] }: TObject,
  inputs: Record<string, string>,
  { name, item }: { name: string; item: Fields },
) {
  const empty: string[] = [];
  for (const [path, input] of Object.entries(inputs)) {
    const [top, ...members] = path.split('.');
    if (top !== name || !required.includes(input) || rest[input] !== undefined) continue;
    const value = members.reduce<unknown>((value, member) => (value as Fields | null)?.[member], item[name]);
    if (isEmpty(value)) empty.push(input);
    else rest[input] = value;
  }
  return empty;
}

/** True for an empty value of an input that cannot be cleared. */
const isEmptyRequired = (name: string, value: unknown, { required = [], properties }: TObject) =>
  isEmpty(value) && (required.includes(name) || properties[name]?.[emptyValue as never] === null);
