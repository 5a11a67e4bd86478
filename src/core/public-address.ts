import ipaddr from 'ipaddr.js';
import { BlockList } from 'node:net';

/** A public address that leads to the host of a virtual machine. */
const azureMetadata = '168.63.129.16';
const globalUnicast = ipaddr.IPv6.parseCIDR('2000::/3');

/** True for an address of the public internet; false for each special one, and for IPv6 forms of IPv4 addresses. */
export function isPublicAddress(address: string): boolean {
  if (!ipaddr.isValid(address)) return false;
  const parsed = ipaddr.parse(address);
  if (parsed.toString() === azureMetadata) return false;
  if (parsed.range() !== 'unicast') return false;
  // `range` knows special ranges only: the rest of IPv6 is not assigned.
  return parsed instanceof ipaddr.IPv4 || (parsed.zoneId === undefined && parsed.match(globalUnicast));
}

/** Matches addresses in any of these addresses and CIDR ranges, which must be valid. */
export function createAddressList(ranges: string[]): (address: string) => boolean {
  const list = new BlockList();
  for (const range of ranges) {
    const [address = '', bits] = range.split('/');
    const family = address.includes(':') ? 'ipv6' : 'ipv4';
    if (bits === undefined) list.addAddress(address, family);
    else list.addSubnet(address, Number(bits), family);
  }
  return (address) => list.check(address, address.includes(':') ? 'ipv6' : 'ipv4');
}
