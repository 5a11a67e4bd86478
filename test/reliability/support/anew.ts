let asked = 0;
/** So that no list was asked for before, and its answer kept. */
export const anew = () => `since_id=${(asked += 1)}`;
