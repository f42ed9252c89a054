import { expect, it } from "vitest";
import { suggestion } from "./similar.ts";

const NAMES = ["orders", "orders-dead", "mails", "a"];

it.each([
  ["order", ' Did you mean "orders"?'],
  ["ordres", ' Did you mean "orders"?'],
  ["Orders", ' Did you mean "orders"?'],
  ["orxers", ' Did you mean "orders"?'],
  ["oordersss", ' Did you mean "orders"?'],
  ["oordersssx", ""],
  ["orders-daed", ' Did you mean "orders-dead"?'],
  ["mil", ' Did you mean "mails"?'],
  ["b", ""],
  ["", ""],
  ["payments", ""],
])("for %j the suggestion is %j", (name, expected) => {
  expect(suggestion(name, NAMES)).toBe(expected);
});

it("names that are as similar are all suggested", () => {
  expect(suggestion("order1", ["order3", "order2", "mails"])).toBe(' Did you mean "order2" or "order3"?');
});
