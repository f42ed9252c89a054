import { describe, expect, it } from "vitest";
import { CATALOGUE } from "./catalogue.ts";
import { HttpError, isCustomerId, readBulkCount, readOrderRequest, readTerms } from "./request.ts";

const mug = { sku: "mug", quantity: 1 };

/** Returns the message of a request's refusal. */
function errorOf(read: () => unknown): string {
  try {
    read();
  } catch (error) {
    expect(error).toBeInstanceOf(HttpError);
    expect((error as HttpError).status).toBe(400);
    return (error as HttpError).message;
  }
  throw new Error("it was not refused");
}

describe("readOrderRequest", () => {
  it("uses the catalogue's price, not the sender's", () => {
    expect(readOrderRequest({ items: [{ ...mug, unitPriceCents: 1 }] })).toEqual({
      customer: null,
      delaySeconds: 0,
      lines: [{ sku: "mug", quantity: 1, unitPriceCents: 1800 }],
    });
  });

  it("accepts a customer and a delay", () => {
    const checked = readOrderRequest({ items: [mug], customer: "ada-lovelace", delaySeconds: 10 });
    expect(checked).toMatchObject({ customer: "ada-lovelace", delaySeconds: 10 });
  });

  it("accepts every product of the catalogue in one order", () => {
    const items = CATALOGUE.map(({ sku }) => ({ sku, quantity: 1 }));
    expect(readOrderRequest({ items }).lines).toHaveLength(items.length);
  });

  it.each([[1], [10]])("accepts a quantity of %s", (quantity) => {
    expect(readOrderRequest({ items: [{ sku: "mug", quantity }] }).lines[0]?.quantity).toBe(quantity);
  });

  it.each([[0], [11], [1.5], ["1"], [null], [undefined]])("refuses a quantity of %s", (quantity) => {
    expect(errorOf(() => readOrderRequest({ items: [mug, { sku: "fern", quantity }] }))).toBe(
      "items[1].quantity must be a whole number from 1 to 10",
    );
  });

  it.each([[null], ["mug"], [[mug]], [7]])("refuses a body that is not an object: %j", (body) => {
    expect(errorOf(() => readOrderRequest(body))).toBe("The body must be a JSON object");
  });

  it.each([[undefined], [[]], ["mug"], [{}]])("refuses items that are not a list: %j", (items) => {
    expect(errorOf(() => readOrderRequest({ items }))).toMatch(/"items" must be a list/);
  });

  it("refuses too many products before it looks at them", () => {
    expect(errorOf(() => readOrderRequest({ items: Array(21).fill(null) }))).toMatch(/at most 20 products/);
    expect(errorOf(() => readOrderRequest({ items: Array(20).fill(null) }))).toMatch(/^items\[0\] must be/);
  });

  it("refuses an unknown product", () => {
    expect(errorOf(() => readOrderRequest({ items: [{ sku: "yacht", quantity: 1 }] }))).toBe(
      'items[0].sku: there is no product "yacht"',
    );
    expect(errorOf(() => readOrderRequest({ items: [{ quantity: 1 }] }))).toBe(
      "items[0].sku: there is no product",
    );
  });

  it("refuses a product that is listed twice", () => {
    expect(errorOf(() => readOrderRequest({ items: [mug, mug] }))).toBe(
      'items[1].sku: "mug" is listed twice',
    );
  });

  it("refuses invalid terms", () => {
    expect(errorOf(() => readOrderRequest({ items: [mug], delaySeconds: -1 }))).toMatch(/"delaySeconds"/);
  });
});

describe("readTerms", () => {
  it.each([[0], [1], [86_399], [86_400]])("accepts a delay of %s s", (delaySeconds) => {
    expect(readTerms({ delaySeconds })).toEqual({ customer: null, delaySeconds });
  });

  it.each([[-1], [86_401], [0.5], ["10"], [null]])("refuses a delay of %s", (delaySeconds) => {
    expect(errorOf(() => readTerms({ delaySeconds }))).toBe(
      '"delaySeconds" must be a whole number from 0 to 86400',
    );
  });

  it("refuses an invalid customer", () => {
    expect(errorOf(() => readTerms({ customer: "no spaces" }))).toMatch(/"customer" must be 8 to 64/);
  });

  it("refuses a body that is not an object", () => {
    expect(errorOf(() => readTerms([]))).toBe("The body must be a JSON object");
  });
});

describe("isCustomerId", () => {
  it.each([
    [7, false],
    [8, true],
    [64, true],
    [65, false],
  ])("returns for a name of %s letters: %s", (length, expected) => {
    expect(isCustomerId("x".repeat(length))).toBe(expected);
  });
});

describe("readBulkCount", () => {
  it.each([["1"], ["2"], ["9999"], ["10000"]])("accepts %s", (text) => {
    expect(readBulkCount(text)).toBe(Number(text));
  });

  it.each([[null], [""], ["0"], ["10001"], ["-1"], ["1.5"], ["1e3"], ["many"]])("refuses %j", (text) => {
    expect(errorOf(() => readBulkCount(text))).toBe('"count" must be a whole number from 1 to 10000');
  });
});
