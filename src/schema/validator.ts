import type { TSchema } from '@sinclair/typebox';
import { Ajv, type ErrorObject, type ValidateFunction } from 'ajv';
import formats from 'ajv-formats';
import { invalidFields, type Problem } from '../core/errors.ts';
import { createCoercion } from './coercion.ts';

type Fields = Record<string, unknown>;
type Fault = Pick<ErrorObject, 'keyword' | 'instancePath' | 'params'>;

/**
 * How every schema is checked: nothing is coerced or removed, all faults are found at once. One for all schemas: each of its
 * own would compile the schema of schemas again.
 */
const ajv = new Ajv({ coerceTypes: false, useDefaults: true, allErrors: true, addUsedSchema: false });
formats.default(ajv);

/** A check that is compiled when it is first needed: all of them take half a second of a start, and memory. */
export function compileCheck(schema: object) {
  let compiled: ValidateFunction | undefined;
  const check = (data: unknown): boolean => {
    compiled ??= ajv.compile(schema);
    const isValid = compiled(data);
    check.errors = compiled.errors;
    return isValid;
  };
  check.errors = null as ValidateFunction['errors'];
  return check;
}

/** Compiles what reads and checks fields outside a request, by the same rules; it throws the same problems. */
export function fieldsChecker(schema: TSchema) {
  const read = createCoercion(schema);
  const validate = compileCheck(schema);
  const names = Object.keys((schema['properties'] ?? {}) as Fields);
  return (raw: Fields): Fields => {
    const fields = read(raw);
    if (!validate(fields)) throw faultyFields(validate.errors ?? [], names, fields);
    return fields;
  };
}

/**
 * Names the fields that the validator refused, in the order of the document. One that may not be null is missing if it
 * is; one that an item of a list lacks is named with its place: `gatherings[2].gathering_at`.
 */
export function faultyFields(faults: Fault[], order: string[], fields: Fields): Problem {
  const missing = new Set<string>();
  const notValid = new Set<string>();
  const incomplete = new Set(faults.filter(isMissing).map(({ instancePath }) => instancePath));
  for (const fault of faults) {
    const [, field, ...path] = fault.instancePath.split('/');
    if (isMissing(fault)) {
      missing.add(pathName([field ?? [], ...path, String((fault.params as Fields)['missingProperty'])].flat()));
    } else if (field !== undefined && fields[field] === null) missing.add(field);
    // A union also refuses an incomplete item as a whole.
    else if (field !== undefined && !incomplete.has(fault.instancePath)) notValid.add(field);
  }
  return inOrder(order, { missing: [...missing], notValid: [...notValid] });
}

/** Names fields, and members of lists in them, in the order of the document. */
export function inOrder(order: string[], names: { missing: string[]; notValid: string[] }): Problem {
  const sorted = (some: string[]) =>
    order.flatMap((field) => [...new Set(some)].filter((name) => name.split(/[.[]/)[0] === field));
  return invalidFields({ missing: sorted(names.missing), notValid: sorted(names.notValid) });
}

const isMissing = ({ keyword }: Fault) => keyword === 'required';
const pathName = ([field = '', ...path]: string[]) =>
  path.reduce((name, part) => (/^\d+$/.test(part) ? `${name}[${part}]` : `${name}.${part}`), field);
