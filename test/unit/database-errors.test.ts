import { DatabaseError } from 'pg';
import { expect, test } from 'vitest';
import { classifyError, toLoggableError } from '../../src/core/database-errors.ts';

function databaseError(code: string, message: string, constraint?: string) {
  return Object.assign(new DatabaseError(message, message.length, 'error'), { code, constraint });
}

test('a rule is recognised by its constraint', () => {
  const error = databaseError('23505', 'duplicate key value violates unique constraint "tags_title"', 'tags_title');
  expect(classifyError(error)).toEqual({ kind: 'rule', constraint: 'tags_title' });
  expect(toLoggableError(error)).toMatchObject({ constraint: 'tags_title' });
});

test('an exception of a trigger is a rule without a constraint', () => {
  expect(classifyError(databaseError('P0001', 'no name'))).toEqual({ kind: 'rule', constraint: '' });
});
