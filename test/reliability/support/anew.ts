let asked = 0;
/** A unique query string that misses the response cache. */
export const anew = () => `since_id=${(asked += 1)}`;
