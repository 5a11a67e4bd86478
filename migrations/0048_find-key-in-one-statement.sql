-- The statement that every request runs. A function of one SELECT is inlined into it, so each connection plans the join
-- once; as PL/pgSQL it took two statements and a result set of its own.
CREATE OR REPLACE FUNCTION find_key(key_hash text) RETURNS TABLE (
  provider_id bigint, fairness_key bigint, key_id bigint, profile text, origins text[], is_active boolean,
  quarter text, version text, catalog text, dates text, people text, money text, school text, shared text, stale boolean
) LANGUAGE sql STABLE AS $$
  SELECT k.provider_id, coalesce(r.root_id, r.id), k.id, k.profile, k.origins, r.is_active,
    floor(extract(epoch FROM now()) / 900)::text, p.changed_at::text, p.catalog_changed_at::text,
    p.dates_changed_at::text, p.people_changed_at::text, p.money_changed_at::text, p.school_changed_at::text,
    concat_ws(' ', s.changed_at, s.xmin, pg_postmaster_start_time()),
    coalesce(u.last_used_at < now() - interval '1 minute', true)
  FROM api_keys k
    JOIN providers r ON r.id = k.provider_id
    JOIN provider_state p ON p.provider_id = k.provider_id
    LEFT JOIN api_key_uses u ON u.provider_id = k.provider_id AND u.key_id = k.id
    CROSS JOIN service_state s
  WHERE k.hash = key_hash AND k.revoked_at IS NULL AND (k.expires_at IS NULL OR k.expires_at > now())
    AND r.closed_at IS NULL
$$;
