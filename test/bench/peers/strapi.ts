export const strapi: import('./peer.ts').Peer = { name: 'strapi', packages: {}, oldestNode: 99, serve: () => Promise.reject(new Error('no')) };
