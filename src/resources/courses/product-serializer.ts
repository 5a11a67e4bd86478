import { products } from '../../database/tables/courses.ts';

const { id, itemNumber, title, titleLabel, price, currency, isMainProduct, vatPercentage } = products;

/** What to select of a product that shows inside something else. */
export const productColumns = { id, itemNumber, title, titleLabel, price, currency, isMainProduct, vatPercentage };
