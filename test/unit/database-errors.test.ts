import { DatabaseError } from 'pg';
import { expect, test } from 'vitest';
import { classifyError, toLoggableError } from '../../src/database/errors.ts';

function databaseError(code: string, message: string, constraint?: string) {
  return Object.assign(new DatabaseError(message, message.length, 'error'), { code, constraint });
}

test.each([
  ['as PostgreSQL reports it', '23505', 'duplicate key value violates unique constraint "tags_title"', 'tags_title'],
  ['with the number of a shard', '23505', 'duplicate key value', 'tags_title_102150'],
  ['in the message alone', '23505', 'duplicate key value violates unique constraint "tags_title"', undefined],
  ['in the message, with the number', '23505', 'duplicate … violates unique constraint "tags_title_102150"', undefined],
])('a rule is recognised by its constraint: %s', (_name, code, message, constraint) => {
  const error = databaseError(code, message, constraint);
  expect(classifyError(error)).toEqual({ kind: 'rule', constraint: 'tags_title' });
  expect(toLoggableError(error)).toMatchObject({ constraint: 'tags_title' });
});

test('of the names in a message the constraint is chosen', () => {
  const message =
    'update or delete on table "tags_102151" violates foreign key constraint "course_tags_tag_fk_102160" on table "x"';
  expect(classifyError(databaseError('23503', message))).toEqual({ kind: 'rule', constraint: 'course_tags_tag_fk' });
  const check = 'new row for relation "orders_102170" violates check constraint "orders_total"';
  expect(classifyError(databaseError('23514', check))).toEqual({ kind: 'rule', constraint: 'orders_total' });
  expect(classifyError(databaseError('23505', 'no name'))).toEqual({ kind: 'rule', constraint: '' });
});
