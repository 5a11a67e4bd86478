-- Its caller, a pipelined insert of courses, no longer exists.
DROP FUNCTION IF EXISTS refuse(text);
