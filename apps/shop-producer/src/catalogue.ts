/** A product of the shop. */
export interface Product {
  readonly sku: string;
  readonly name: string;
  readonly blurb: string;
  readonly priceCents: number;
}

/** All products of the shop, in the order of the page. */
export const CATALOGUE: readonly Product[] = [
  { sku: "mug", name: "Enamel mug", blurb: "Charged at once.", priceCents: 1800 },
  { sku: "notebook", name: "Linen notebook", blurb: "Charged at once.", priceCents: 1250 },
  { sku: "fern", name: "Potted fern", blurb: "Charged at once.", priceCents: 2600 },
  { sku: "kite", name: "Stormy kite", blurb: "One attempt in three is blown away.", priceCents: 3400 },
  { sku: "lamp", name: "Flaky lamp", blurb: "Fails twice, then the third attempt pays.", priceCents: 5900 },
  { sku: "vase", name: "Cursed vase", blurb: "Never goes through. Ends as a dead letter.", priceCents: 8800 },
];

/** Finds a product by its SKU. */
export function findProduct(sku: string): Product | undefined {
  return CATALOGUE.find((product) => product.sku === sku);
}
