/**
 * Parts of a provider's data. Each has a clock in `provider_state`, so that a write invalidates only what it may change.
 * A new area needs a column in `provider_state`, and new versions of the functions that name all areas: `find_key`,
 * `set_clocks` and `move_area_clocks`.
 */
const areas = ['catalog', 'dates', 'people', 'money', 'school'] as const;
export type Area = (typeof areas)[number];
/** Not empty: a lock that moves no area's clock would move all of them. */
export type Areas = readonly [Area, ...Area[]];

/** Areas of writes that may change anything, such as imports. */
export const allAreas: Areas = areas;
