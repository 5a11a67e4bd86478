-- Shares of credits that an import has written without them, as an older version exports them, by the rule of the credits
-- that were made before shares were stored. A file does not say when a credit was made: it was before its order was
-- imported, invoiced and exported. Of at most max_lines lines of credits after a line; returns the last, null without one.
CREATE FUNCTION share_older_credits(school bigint, after_line bigint, max_lines int) RETURNS bigint
LANGUAGE plpgsql AS $$
DECLARE
  credit record;
  names_all boolean;
  last_line bigint;
BEGIN
  FOR credit IN
    SELECT c.provider_id, c.id, s.id AS source_id, least(o.created_at, o.invoiced_at, o.exported_at) AS created_at,
      CASE WHEN c.price_at_order = s.price_at_order THEN -c.quantity ELSE 2147483647 END AS items,
      c.discount_calculated_at_order - c.quantity * c.price_at_order AS amount
    FROM order_lines c
      JOIN order_lines s ON s.provider_id = c.provider_id AND s.id = c.credits_line_id
      JOIN orders o ON o.provider_id = c.provider_id AND o.id = c.order_id
    WHERE c.provider_id = school AND c.id > after_line AND (
      SELECT bool_and(n.amount IS NULL AND NOT n.is_credited) FROM order_line_participants n
      WHERE n.provider_id = c.provider_id AND n.order_line_id = c.id)
    ORDER BY c.id LIMIT max_lines
  LOOP
    last_line := credit.id;
    SELECT NOT EXISTS (
      SELECT participant_id FROM order_line_participants
      WHERE provider_id = credit.provider_id AND order_line_id = credit.source_id
      EXCEPT SELECT participant_id FROM order_line_participants
      WHERE provider_id = credit.provider_id AND order_line_id = credit.id
    ) INTO names_all;

    WITH parts AS (
      SELECT n.order_line_id, n.participant_id, n.is_credited, coalesce(n.amount,
        round(l.net * row_number() OVER own / count(*) OVER line, 2)
          - round(l.net * (row_number() OVER own - 1) / count(*) OVER line, 2)) AS amount
      FROM (
        SELECT id, quantity * price_at_order - discount_calculated_at_order AS net FROM order_lines
        WHERE provider_id = credit.provider_id
          AND (id = credit.source_id OR credits_line_id = credit.source_id AND id < credit.id)
      ) l
        JOIN order_line_participants n ON n.provider_id = credit.provider_id AND n.order_line_id = l.id
      WINDOW line AS (PARTITION BY n.order_line_id), own AS (PARTITION BY n.order_line_id ORDER BY n.participant_id)
    ), people AS (
      SELECT p.id, p.status_updated_at, greatest(sum(s.amount), 0) AS share,
        p.status_id IN (4, 8) AND p.status_updated_at <= credit.created_at AS has_left,
        p.status_id IN (4, 8) AND p.status_updated_at <= credit.created_at AND NOT bool_or(s.is_credited)
          AND (sum(s.amount) > 0 OR credit.amount = 0) AS is_open
      FROM parts s
        JOIN order_line_participants n ON n.provider_id = credit.provider_id AND n.order_line_id = credit.id
          AND n.participant_id = s.participant_id
        JOIN participants p ON p.provider_id = credit.provider_id AND p.id = s.participant_id
      GROUP BY p.provider_id, p.id
    ), ordered AS (
      SELECT *, row_number() OVER (PARTITION BY is_open ORDER BY status_updated_at, id) AS place FROM people
    ), chosen AS (
      SELECT id, share, is_open AND (place <= credit.items OR NOT names_all) AS is_credited,
        CASE WHEN NOT names_all THEN 1 WHEN is_open AND place <= credit.items THEN place
          WHEN NOT has_left THEN 2147483646 ELSE 2147483647 END AS nth
      FROM ordered
    ), taken AS (
      SELECT id, is_credited, share, nth, sum(share) OVER same AS whole, sum(share) OVER (same ORDER BY id) AS upto,
        greatest(0, least(sum(share) OVER same, credit.amount - sum(share) OVER (ORDER BY nth) + sum(share) OVER same)) AS part
      FROM chosen WINDOW same AS (PARTITION BY nth)
    ), shared AS (
      SELECT id, is_credited,
        CASE WHEN whole = 0 THEN 0 ELSE round(part * upto / whole, 2) - round(part * (upto - share) / whole, 2) END AS amount
      FROM taken
    )
    UPDATE order_line_participants n SET amount = -s.amount, is_credited = s.is_credited
    FROM shared s
    WHERE n.provider_id = credit.provider_id AND n.order_line_id = credit.id AND n.participant_id = s.id
      AND (SELECT sum(amount) FROM shared) = credit.amount;

    DELETE FROM order_line_participants n
    WHERE n.provider_id = credit.provider_id AND n.order_line_id = credit.id AND n.amount = 0 AND NOT n.is_credited
      AND EXISTS (
        SELECT FROM order_line_participants o
        WHERE o.provider_id = n.provider_id AND o.order_line_id = n.order_line_id AND (o.amount <> 0 OR o.is_credited));
  END LOOP;
  RETURN last_line;
END $$;
