import { usernameHashSql } from '../../database/tables/access.ts';

/** Failures that closed a course user's name: who was given another password shall get in with it. */
export const forgetFailures = {
  name: 'forget_sign_on_failures',
  text: `delete from sign_on_failures where provider_id = $1
    and username_hash = (select ${usernameHashSql('username')} from course_users where provider_id = $1 and id = $2)`,
};
