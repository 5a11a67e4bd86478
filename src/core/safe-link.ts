export const webProtocols = ['https:', 'http:'];

/** The URL, with https if it begins with `www.`; undefined with another protocol, such as `javascript:`. */
export function safeLink(address: string | null | undefined, protocols = webProtocols): string | undefined {
  const full = address?.trim().replace(/^(?=www\.)/i, 'https://');
  if (!full || !URL.canParse(full)) return undefined;
  const { protocol, href } = new URL(full);
  return protocols.includes(protocol) ? href : undefined;
}
