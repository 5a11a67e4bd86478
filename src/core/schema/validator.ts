import type { TSchema } from '@sinclair/typebox';
import { Ajv, type ErrorObject, type ValidateFunction } from 'ajv';
import formats from 'ajv-formats';
import { Problem } from '../errors.ts';
import { createCoercion } from './coercion.ts';
import { findProperties } from './types.ts';

type Fields = Record<string, unknown>;
type Properties = Record<string, TSchema>;
type SchemaError = Pick<ErrorObject, 'keyword' | 'instancePath' | 'params'> & { schemaPath?: string };

/** Shared by all schemas, because each instance compiles the meta-schema again. */
const ajv = new Ajv({
  ...{ coerceTypes: false, useDefaults: true, allErrors: true, addUsedSchema: false },
  // Of an amount in hundredths, which binary fractions cannot represent.
  multipleOfPrecision: 3,
});
formats.default(ajv);

/** Key of a body or query with the names that the operation does not take, which are errors. */
export const refusedNames = Symbol('refusedNames');

/** Compiles on first use: compiling all schemas at start takes half a second and memory. */
export function compileValidator(schema: object) {
  let compiled: ValidateFunction | undefined;
  const check = (data: unknown): boolean => {
    compiled ??= ajv.compile(schema);
    const errors = compiled(data) ? [] : (compiled.errors ?? []);
    check.errors = [...errors, ...toRefusals(data)];
    if (check.errors.length === 0) check.errors = null;
    return check.errors === null;
  };
  check.errors = null as ValidateFunction['errors'];
  return check;
}

const toRefusals = (data: unknown): ErrorObject[] =>
  ((data as { [refusedNames]?: string[] } | null | undefined)?.[refusedNames] ?? []).map((name) => ({
    ...{ keyword: 'unknown', instancePath: '', schemaPath: '', params: { name } },
  }));

/** Coerces and validates fields outside a request. Throws the same problems as a request. */
export function createFieldsParser(schema: TSchema) {
  const coerce = createCoercion(schema);
  const validate = compileValidator(schema);
  const properties = findProperties(schema);
  return (raw: Fields): Fields => {
    const fields = coerce(raw);
    if (!validate(fields)) throw toFieldsProblem(validate.errors ?? [], properties, fields);
    return fields;
  };
}

/**
 * Converts schema errors to one problem that lists fields in their order. A null in a required field counts as missing; a
 * member of a list item is reported with its index: `gatherings[2].gathering_at`.
 */
export function toFieldsProblem(errors: SchemaError[], properties: Properties, fields: Fields): Problem {
  const missing = new Set<string>();
  const notValid = new Set<string>();
  const unknown: string[] = [];
  const incomplete = new Set(errors.filter(isMissing).map(({ instancePath }) => instancePath));
  const parents = new Set(errors.flatMap(({ instancePath }) => getParents(instancePath)));
  for (const error of errors) {
    const [, field, ...path] = error.instancePath.split('/');
    if (isOfUnion(error) && parents.has(error.instancePath)) continue;
    if (error.keyword === 'unknown') unknown.push(String(error.params['name']));
    else if (isMissing(error)) {
      missing.add(pathName([field ?? [], ...path, String(error.params['missingProperty'])].flat()));
    } else if (field !== undefined && fields[field] === null) missing.add(field);
    // A union reports an incomplete item a second time.
    else if (field !== undefined && !incomplete.has(error.instancePath)) notValid.add(memberName(error, properties));
  }
  return Problem.invalidFields({ missing: [...missing], notValid: [...notValid], unknown }, Object.keys(properties));
}

/** The paths of the objects and lists around a value. */
function getParents(path: string) {
  const parts = path.split('/');
  return parts.slice(1).map((_part, n) => parts.slice(0, n + 1).join('/'));
}

const isOfUnion = ({ schemaPath = '' }: SchemaError) => schemaPath.includes('/anyOf');

/** The field, or its invalid member where lists or required members have one; keys of free objects stay out. */
function memberName({ instancePath, schemaPath = '' }: SchemaError, properties: Properties): string {
  const parts = instancePath.split('/').slice(1);
  const named: string[] = [];
  let [length, isNamed] = [1, properties[parts[0]!]?.['required'] !== undefined];
  for (const word of schemaPath.split('/').filter((one) => /^(properties|items|additionalProperties)$/.test(one))) {
    if (word === 'additionalProperties' || named.length === parts.length) break;
    named.push(parts[named.length]!);
    isNamed ||= word === 'items';
    if (word === 'properties' && isNamed) length = named.length;
  }
  return pathName((named.length > 0 ? named : parts).slice(0, length));
}

const isMissing = ({ keyword }: SchemaError) => keyword === 'required';
const pathName = ([field = '', ...path]: string[]) =>
  path.reduce((name, part) => (/^\d+$/.test(part) ? `${name}[${part}]` : `${name}.${part}`), field);
