/** Those of the participants `$2` who have registered attendance. */
export const findAttended = {
  name: 'find_attended_of_moved',
  text: `select distinct participant_id as id from attendances
    where provider_id = $1 and participant_id = any($2::bigint[]) and attended is not null order by 1`,
};

export const moveParticipants = {
  name: 'move_participants',
  text: `update participants p set course_id = $3, course_date_id = $4, status_id = m."statusId", held_for = m."heldFor",
      held_until = null, lapsed_offers = 0, status_updated_at = $5, updated_at = $5
    from json_to_recordset($2) m (id bigint, "statusId" smallint, "heldFor" text)
    where p.provider_id = $1 and p.id = m.id`,
};
