import { Resolver } from 'node:dns/promises';
import { isIP, BlockList } from 'node:net';
import ipaddr from 'ipaddr.js';

const noRecordCodes = ['ENOTFOUND', 'ENODATA', 'EBADNAME'];

/** True where DNS has answered that there is no such record, false for a failed lookup. */
const isNoRecord = (error: unknown) => noRecordCodes.includes(String((error as { code?: string }).code));

/** Which addresses may be called. */
export type CallPolicy = {
  /** Addresses and CIDR ranges that may be called although they are not public. */
  allow: string[];
};

/** Thrown for an address that may not be called, or not now, with a text for the caller. */
export class TargetError extends Error {
  readonly isMomentary: boolean;
  /** The addresses that the policy would have to allow, if they reveal nothing of an internal network. */
  readonly refused: string[];

  constructor(
    message: string,
    { isMomentary = false, refused = [] }: { isMomentary?: boolean; refused?: string[] } = {},
  ) {
    super(message);
    this.isMomentary = isMomentary;
    this.refused = refused;
  }
}

/** The host of a URL without brackets, or null for a URL that may not be called whatever its address is. */
export function parseTarget(text: string): string | null {
  if (!URL.canParse(text)) return null;
  const { protocol, username, password, port, hostname } = new URL(text);
  if (!['http:', 'https:'].includes(protocol) || username !== '' || password !== '') return null;
  if (port !== '' && !['80', '443'].includes(port) && Number(port) < 1024) return null;
  return hostname.replace(/^\[|\]$/g, '').replace(/\.$/, '') || null;
}

/** Resolves the host once. Throws unless it has an address and each of its addresses may be called. */
export async function resolveTarget(host: string, { allow }: CallPolicy): Promise<string[]> {
  const addresses = isIP(host) > 0 ? [host] : await resolveByDns(host);
  const isAllowed = createAddressList(allow);
  const mayCall = (address: string) => isPublicAddress(address) || isAllowed(address);
  // One text for both: a caller must not learn which internal names exist.
  if (addresses.length === 0 || !addresses.every(mayCall)) {
    const refused = isIP(host) > 0 || isLocalName(host) ? addresses.filter((address) => !mayCall(address)) : [];
    throw new TargetError('the host has no public address', { refused });
  }
  return addresses;
}

const isLocalName = (host: string) => host === 'localhost' || host.endsWith('.localhost');

/** Queries DNS without `getaddrinfo`, which occupies a thread; names of this machine are local (RFC 6761). */
async function resolveByDns(host: string) {
  if (isLocalName(host)) return ['127.0.0.1', '::1'];
  const resolver = new Resolver({ timeout: 2_000, tries: 2 });
  const found = await Promise.allSettled([resolver.resolve4(host), resolver.resolve6(host)]);
  const addresses = found.flatMap((one) => (one.status === 'fulfilled' ? one.value : []));
  const isAnswer = (one: PromiseSettledResult<unknown>) => one.status === 'fulfilled' || isNoRecord(one.reason);
  if (addresses.length === 0 && !found.every(isAnswer))
    throw new TargetError('the name of the host cannot be looked up just now', { isMomentary: true });
  return addresses;
}

/** A public address that leads to the host of a virtual machine. */
const azureMetadata = '168.63.129.16';
const globalUnicast = ipaddr.IPv6.parseCIDR('2000::/3');

/** True for an address of the public internet; false for each special one, and for IPv6 forms of IPv4 addresses. */
function isPublicAddress(address: string): boolean {
  if (!ipaddr.isValid(address)) return false;
  const parsed = ipaddr.parse(address);
  if (parsed.toString() === azureMetadata) return false;
  if (parsed.range() !== 'unicast') return false;
  // `range` knows special ranges only: the rest of IPv6 is not assigned.
  return parsed instanceof ipaddr.IPv4 || (parsed.zoneId === undefined && parsed.match(globalUnicast));
}

/** Matches addresses in any of these addresses and CIDR ranges, which must be valid. */
function createAddressList(ranges: string[]): (address: string) => boolean {
  const list = new BlockList();
  for (const range of ranges) {
    const [address = '', bits] = range.split('/');
    const family = address.includes(':') ? 'ipv6' : 'ipv4';
    if (bits === undefined) list.addAddress(address, family);
    else list.addSubnet(address, Number(bits), family);
  }
  return (address) => list.check(address, address.includes(':') ? 'ipv6' : 'ipv4');
}
