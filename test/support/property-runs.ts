const propertyRuns = Number(process.env['PROPERTY_RUNS'] ?? 20);

/**
 * The `numRuns` of a property: PROPERTY_RUNS (20 by default, 30 in CI and at night) times `share`. A costly property has a share
 * below 1, but never fewer than 20 runs unless PROPERTY_RUNS itself is lower.
 */
export const runs = (share = 1) => Math.max(Math.min(20, propertyRuns), Math.round(propertyRuns * share));
