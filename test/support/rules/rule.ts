import type { ErrorCode } from '../../../src/core/error-codes.ts';
import type { Provider, TestResponse } from '../test-app.ts';

type Method = 'GET' | 'POST' | 'PUT' | 'DELETE';
/** Sends a request that accepts problem details. */
export type Send = (method: Method, path: string, body?: object) => Promise<TestResponse>;

/**
 * A rule of operations, its code, the fields that it names (`-title` for one that is missing), and a request of a new
 * school that breaks it.
 */
export type Rule = {
  operations: string[];
  code: ErrorCode;
  fields?: string[];
  breakIt: (me: Provider, send: Send, operation: string) => Promise<TestResponse>;
};

export type Item = Record<string, any>;
export const created = async (response: Promise<TestResponse>) => {
  const answer = await response;
  if (answer.status >= 300) throw new Error(answer.text);
  return answer.json<Item>();
};

export const manyProperties = (count: number) =>
  Object.fromEntries(Array.from({ length: count }, (_, n) => [`property_${n}`, 'x']));
