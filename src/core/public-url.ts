/** The path prefix of PUBLIC_URL, without a trailing slash, that a proxy strips from requests. */
export const toBasePath = (publicUrl: string) => new URL(publicUrl).pathname.replace(/\/$/, '');
