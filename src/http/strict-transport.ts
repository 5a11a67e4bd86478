/**
 * Value of the header Strict-Transport-Security, a year; undefined over plain http, where browsers ignore it. Without
 * `includeSubDomains`, since subdomains may belong to other services.
 */
export const strictTransport = (publicUrl: string) => (publicUrl.startsWith('https:') ? 'max-age=31536000' : undefined);
