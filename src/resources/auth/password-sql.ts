import { usernameHashSql } from '../../database/tables/access.ts';

/** Lifts the limit on a username, so that its user can sign in with the new password. */
export const forgetFailures = {
  name: 'delete_sign_on_failures',
  text: `delete from sign_on_failures where provider_id = $1
    and username_hash = (select ${usernameHashSql('username')} from course_users where provider_id = $1 and id = $2)`,
};
