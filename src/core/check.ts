import type { TSchema } from '@sinclair/typebox';
import { Ajv, type ErrorObject, type ValidateFunction } from 'ajv';
import formats from 'ajv-formats';
import { invalidFields, type Problem } from './problem.ts';
import { fieldsReader } from './read.ts';

type Fields = Record<string, unknown>;
type Fault = Pick<ErrorObject, 'keyword' | 'instancePath' | 'params'>;

/**
 * How every schema is checked: nothing is coerced or removed, all faults are found at once. One for all schemas: each of its
 * own would compile the schema of schemas again.
 */
const ajv = new Ajv({ coerceTypes: false, useDefaults: true, allErrors: true, addUsedSchema: false });
formats.default(ajv);

/** A check that is compiled when it is first needed: all of them take half a second of a start, and memory. */
export function checkOf(schema: object) {
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
  const read = fieldsReader(schema);
  const validate = checkOf(schema);
  const names = Object.keys((schema['properties'] ?? {}) as Fields);
  return (raw: Fields): Fields => {
    const fields = read(raw);
    if (!validate(fields)) throw faultyFields(validate.errors ?? [], names, fields);
    return fields;
  };
}

/** Names the fields that the validator refused, in the order of the document; one that may not be null is missing if it is. */
export function faultyFields(faults: Fault[], order: string[], fields: Fields): Problem {
  const missing = new Set<string>();
  const notValid = new Set<string>();
  for (const { keyword, instancePath, params } of faults) {
    const field = instancePath.split('/')[1];
    if (field !== undefined) (fields[field] === null ? missing : notValid).add(field);
    else if (keyword === 'required') missing.add(String((params as Fields)['missingProperty']));
  }
  const inOrder = (names: Set<string>) => order.filter((name) => names.has(name));
  return invalidFields({ missing: inOrder(missing), notValid: inOrder(notValid) });
}
