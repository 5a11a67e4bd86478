/** Whose items a list shows: the provider's own, and of the approved partners named here what the public may see. */
export type Reach = { own: boolean; partnerIds: number[] };

export const ownItems: Reach = { own: true, partnerIds: [] };
