import { Type } from '@sinclair/typebox';
import { t } from '../../../core/schema/types.ts';

const count = (description: string) => Type.Integer({ description });

/** The most kept items that a response names. */
export const maxKept = 1_000;

const KeptItem = t.NamedObject(
  'KeptItem',
  t.member.closed.all({
    resource: t.OneOf(['order', 'customer', 'payment'], { description: 'Of a payment its reference stays' }),
    id: Type.Integer(),
    reason: t.OneOf(['invoice', 'other_buyer'], {
      description: 'invoice: the accounts need the buyer; other_buyer: another person or a company pays',
    }),
    until: t.Nullable(
      Type.String({ format: 'date', description: 'The day on which the buyer is erased by itself; null for others' }),
    ),
  }),
);

export const Erasure = t.NamedObject(
  'Erasure',
  t.member.closed.all({
    id: Type.Integer(),
    dry_run: Type.Boolean({ description: 'true: nothing has changed' }),
    participants: count('Participants, whose places stay; of an erased person those with something new'),
    orders: count('Orders whose buyer goes; their amounts stay'),
    customers: count('Private customers that are the person'),
    mails: count('Mails that are deleted, sent ones and others'),
    interests: count('Interests in courses that are deleted'),
    sessions: count('Sessions that end'),
    links: count('Links of mails, sign-ons and calendars that end'),
    webhook_attempts: count('Logged attempts of webhooks that are deleted'),
    import_refs: count('Refs of imports that are hashed'),
    kept: Type.Array(KeptItem, { description: `What stays, ${maxKept} items at most` }),
    kept_total: count('Number of all items that stay'),
  }),
);
