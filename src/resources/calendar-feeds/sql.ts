/** In place of an earlier one; no row for an erased person. */
export const storeFeed = {
  name: 'store_calendar_feed',
  text: `insert into calendar_feeds (provider_id, user_id, hash, created_at)
    select provider_id, id, $3, $4::timestamptz from course_users where provider_id = $1 and id = $2 and erased_at is null
    on conflict (provider_id, user_id) do update set hash = excluded.hash, created_at = excluded.created_at
    returning true as stored`,
};

export const deleteFeed = {
  name: 'delete_calendar_feed',
  text: 'delete from calendar_feeds where provider_id = $1 and user_id = $2 returning true as deleted',
};

export const findFeedOfUser = {
  name: 'find_calendar_feed_of_user',
  text: 'select created_at::text as "createdAt" from calendar_feeds where provider_id = $1 and user_id = $2',
};

/** A feed of a provider ($1) by hash ($2), of a provider that is open. */
export const findFeed = {
  name: 'find_calendar_feed',
  text: `select provider_id as "providerId", user_id as "userId" from calendar_feeds
    where provider_id = $1 and hash = $2
      and exists (select from providers p where p.id = $1 and p.closed_at is null)`,
};
