import { Type, type TSchema } from '@sinclair/typebox';

/** Completes `NAME must …`; undefined if the value is right. */
export type Check = (value: string) => string | undefined;

type Options = {
  default?: string;
  check?: Check;
};
/** Members of a variable's declaration that its type does not imply. */
export type Declaration = TSchema & Options & { secret?: true; enum?: string[] };

export const text = (description: string, options: Options = {}) => Type.String({ description, ...options });

/** Its value is never shown, and may be in a file that the variable `<name>_FILE` names. */
export const secret = (description: string, options: Options = {}) =>
  Type.String({ description, secret: true, ...options });

export const boolean = (description: string, fallback?: boolean) =>
  Type.Boolean({ description, ...withDefault(fallback) });

export const integer = (description: string, fallback?: number, minimum = 1, maximum = 2_147_483_647) =>
  Type.Integer({ description, ...withDefault(fallback), minimum, maximum });

export const days = (description: string, fallback?: number, minimum = 0) =>
  integer(description, fallback, minimum, 3_650);

export const choice = <const T extends readonly string[]>(values: T, description: string, options: Options = {}) =>
  Type.Unsafe<T[number]>({ type: 'string', enum: values, description, ...options });

const withDefault = (fallback: unknown) => (fallback === undefined ? {} : { default: fallback });

/** Adds a variable `<name>_FILE` after each secret. */
export function withFiles(variables: Record<string, Declaration>): Record<string, Declaration> {
  const entries = Object.entries(variables).flatMap(([name, schema]): [string, Declaration][] =>
    schema.secret
      ? [
          [name, schema],
          [toFileVariable(name), text(`A file that holds \`${name}\``)],
        ]
      : [[name, schema]],
  );
  return Object.fromEntries(entries);
}

export const toFileVariable = (name: string) => `${name}_FILE`;
