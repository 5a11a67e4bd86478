/** Limits of the forms, of an address and a school. */
export const formLimits = {
  /** Persons of one form. */
  persons: 20,
  /** Bookings and interests. */
  postsPerHour: 30,
  /** Places of the last 24 hours that are not paid for, or free. */
  unpaidPlacesPerDay: 50,
};
