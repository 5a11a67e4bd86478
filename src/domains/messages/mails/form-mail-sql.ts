import { recipientHashSql } from '../../../database/tables/catalog-posts.ts';
import { currentTimeSql } from '../../../database/tables/columns.ts';

/** Mails to one recipient in 24 hours by the forms of a school. */
const maxFormMails = 5;

const numSent = `(select count(*)::int from catalog_posts p, unnest(p.recipients) mail
      where p.provider_id = $1 and p.recipients @> array[e.hash] and mail = e.hash
        and p.created_at > ${currentTimeSql} - interval '24 hours')`;

/** Of the JSON list `$2` of addresses, in its order. */
const decided = `select l.place, e.hash, l.email <> ''
      and row_number() over (partition by e.hash order by l.place) + ${numSent} <= ${maxFormMails} as "isSent"
    from json_array_elements_text($2) with ordinality as l (email, place)
      cross join lateral (select ${recipientHashSql('$1', 'l.email')} as hash) e`;

export const decideFormMails = {
  name: 'decide_form_mails',
  text: `select d."isSent" from (${decided}) d order by d.place`,
};

/** Of one address; stores it by the key `$3` if it is sent. */
export const reserveFormMail = {
  name: 'reserve_form_mail',
  text: `with decided as (${decided}), taken as (
      insert into catalog_posts (provider_id, key_hash, places, recipients, created_at)
      select $1, $3, 0, array(select hash from decided where "isSent"), ${currentTimeSql}
      where exists (select from decided where "isSent"))
    select d."isSent" from decided d order by d.place`,
};
