-- For what is sent without waiting for any answer: refuses by the rule of that name, as its constraint would, and takes the
-- transaction along.
CREATE FUNCTION refuse(rule text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'refused by the rule %', rule USING ERRCODE = 'check_violation', CONSTRAINT = rule;
END $$;
