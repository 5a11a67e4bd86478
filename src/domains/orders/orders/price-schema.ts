/** A stored product; the price is for one, without VAT. */
export type ProductFound = {
  id: number;
  courseId: number;
  price: string;
  currency: string;
  vatPercentage: string;
};

/** A course date with the prices of its course. */
export type PricedDate = {
  courseId: number;
  courseTitle: string;
  startAt: string;
  endAt: string;
  place: string | null;
  /** Null if archived. */
  mainProduct: ProductFound | null;
};
