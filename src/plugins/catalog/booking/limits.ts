import { normalizeIP } from '@fastify/rate-limit';

/** Limits of the booking form. Of an address (IPv6: a /64) and a school, where nothing else is said. */
export const formLimits = {
  /** Persons of one form. */
  persons: 20,
  postsPerMinute: 30,
  bookingsPerHour: 30,
  /** Places of the last 24 hours that are not paid for. */
  unpaidPlacesPerDay: 50,
};

/** A request whose connection is closed has no address. */
export const toAddressKey = (ip: string | undefined) => (ip === undefined ? 'closed connection' : normalizeIP(ip));
