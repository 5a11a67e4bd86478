import { execute, type Queryable } from './statements.ts';

const findSecret = { name: 'find_service_secret', text: 'select secret from service_state' };

/** The secret of the database. */
export async function loadServiceSecret(on: Queryable) {
  const [row] = await execute<{ secret: string }>(on, findSecret, []);
  return row!.secret;
}
