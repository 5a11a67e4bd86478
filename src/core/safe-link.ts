export const webProtocols = ['https:', 'http:'];

/** The URL if it has one of the protocols, else undefined: `javascript:` URLs would run scripts. */
export function safeLink(address: string | null | undefined, protocols = webProtocols): string | undefined {
  if (!address || !URL.canParse(address)) return undefined;
  const { protocol, href } = new URL(address);
  return protocols.includes(protocol) ? href : undefined;
}
