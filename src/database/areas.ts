/** Parts of a provider's data with a clock each; `find_key`, `set_clocks` and `move_area_clocks` name all of them. */
const areas = ['catalog', 'dates', 'people', 'money', 'school'] as const;
export type Area = (typeof areas)[number];
/** Not empty: a lock that moves no area's clock would move all of them. */
export type Areas = readonly [Area, ...Area[]];

/** Areas of writes that may change anything, such as imports. */
export const allAreas: Areas = areas;
