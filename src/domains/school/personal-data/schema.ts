import { sessions, signOnFailures, tokens, usernameHashSql } from '../../../database/tables/access.ts';
import { deleted, ended, entry, isOfPerson, ofUser } from '../../../lists/personal-data.ts';

export const ofSchool = {
  sessions: entry(sessions, isOfPerson, {
    ...{ ...ended, count: ['sessions'] },
    show: ['ExportedSession', { without: 'hash userId', order: 'createdAt hash' }],
  }),
  links: entry(tokens, isOfPerson, {
    ...{ ...ended, count: ['links', 'used_at is null'] },
    show: ['ExportedLink', { without: 'hash earlierHashes userId adminUserId', order: 'createdAt hash' }],
  }),
  sign_on_failures: entry(signOnFailures, `username_hash = ${ofUser(usernameHashSql('u.username'))}`, deleted),
};
