import { auditEntries } from '../../../database/tables/audit.ts';
import * as imports from '../../../database/tables/imports.ts';
import { webhookDeliveries } from '../../../database/tables/webhooks.ts';
import { deleted, entry, ofOrders as listOfOrders, ofPlaces, type Entry } from '../../../lists/personal-data.ts';
import { ofCourses } from '../../courses/personal-data/schema.ts';
import { ofMessages } from '../../messages/personal-data/schema.ts';
import { ofOrders } from '../../orders/personal-data/schema.ts';
import { ofParticipants } from '../../participants/personal-data/schema.ts';
import { ofPeople } from '../../people/personal-data/schema.ts';
import { ofSchool } from '../../school/personal-data/schema.ts';

/** An item of the person, by the names that imports and events have for its kind. */
const isItem = (kind: string, id: string) => `(${kind} in ('user', 'courseuser') and ${id} = :userId
    or ${kind} = 'participant' and ${id} = ${ofPlaces('id')}
    or ${kind} = 'order' and ${id} = any(:orders::bigint[])
    or ${kind} = 'booking' and ${id} = ${listOfOrders('bookings')}
    or ${kind} = 'order_line' and ${id} = ${listOfOrders('order_lines')}
    or ${kind} = 'customer' and ${id} = any(:customers::bigint[]))`;
/** True for refs of such items, with the condition of the partial index. */
const isRef = `kind in ('booking', 'customer', 'order', 'order_line', 'participant', 'user')
  and ${isItem('kind', 'item_id')} and not ${imports.isHashedRefSql('ref')}`;
const isAttempt = `exists (select from events e where e.provider_id = :providerId
  and ${isItem('e.resource', 'e.resource_id')} and e.id = substring(message_id from '^evt_(\\d{1,18})_')::bigint)`;
/** True after an import that broke off: one in progress has the lock, and deletes its lines at its end. */
const isStaged = `(select pg_try_advisory_xact_lock(${imports.importLockSql(':providerId::bigint')}))`;

/** Tables by the names of the lists of an export, in the order of its lists and of deletions: links before mails. */
export const register = {
  ...{ ...ofParticipants, ...ofOrders, ...ofPeople, ...ofSchool, ...ofMessages, ...ofCourses },
  import_refs: entry(imports.importRefs, isRef, {
    ...{ erase: { ref: imports.hashedRefSql('ref') }, count: ['import_refs'] },
    show: [
      'ExportedImportRef',
      { without: 'itemId content', order: 'ref', find: `kind = 'user' and item_id = :userId` },
    ],
  }),
  audit_entries: entry(auditEntries, `actor = 'course_user' and actor_id = :userId`, {
    show: ['ExportedAuditEntry', { without: 'actor actorId itemIds' }],
  }),
  webhook_deliveries: entry(webhookDeliveries, isAttempt, { ...deleted, count: ['webhook_attempts'] }),
  staged_lines: entry(imports.stagedLines, isStaged, deleted),
};
export const entries: Entry[] = Object.values(register);

/** The personal columns without an entry: of staff, who are no course users, and answers, searched as texts. */
export const otherColumns: Record<string, string> = {
  admin_memberships: 'firstname lastname position phone_prefix phone booking_email',
  admin_users: 'email firstname lastname password_hash',
  instructors: 'firstname lastname phone_prefix phone email position company description',
  idempotency_records: 'answer',
};
