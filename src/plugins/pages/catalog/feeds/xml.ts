import { escapeMarkup } from '../../../../core/text.ts';

/** XML 1.0 has no way to write other control characters, or half a surrogate pair. */
const unwritable = /[^\P{Cc}\t\n\r]|\p{Cs}|[\ufffe\uffff]/gu;

const escapeXml = (text: string) => escapeMarkup(text.replace(unwritable, ''));

/** An element, in which every text is escaped. */
type Xml = { xml: string };

export function element(name: string, attributes: Record<string, string> = {}, ...content: (Xml | string)[]): Xml {
  const named = Object.entries(attributes).map(([key, value]) => ` ${key}="${escapeXml(value)}"`);
  const inner = content.map((one) => (typeof one === 'string' ? escapeXml(one) : one.xml)).join('');
  return { xml: inner === '' ? `<${name}${named.join('')}/>` : `<${name}${named.join('')}>${inner}</${name}>` };
}

export const toDocument = ({ xml }: Xml) => `<?xml version="1.0" encoding="utf-8"?>\n${xml}\n`;
