import { products } from '../../database/tables/courses.ts';

const { id, itemNumber, title, titleLabel, price, currency, isMainProduct, vatPercentage } = products;

/** The columns of an embedded product. */
export const productColumns = { id, itemNumber, title, titleLabel, price, currency, isMainProduct, vatPercentage };
