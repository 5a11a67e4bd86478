let count = 0;
/** A unique query string that misses the response cache. */
export const uniqueQuery = () => `since_id=${(count += 1)}`;
