export const webProtocols = ['https:', 'http:'];

/**
 * The URL if it has one of the protocols, else undefined: `javascript:` URLs would run scripts. An address that begins
 * with `www.` has https.
 */
export function safeLink(address: string | null | undefined, protocols = webProtocols): string | undefined {
  const full = address?.trim().replace(/^(?=www\.)/i, 'https://');
  if (!full || !URL.canParse(full)) return undefined;
  const { protocol, href } = new URL(full);
  return protocols.includes(protocol) ? href : undefined;
}
