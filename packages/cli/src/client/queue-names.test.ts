import { expect, it } from "vitest";
import { suggestion } from "./queue-names.ts";

it.each([
  ["order", ["orders", "orders-dlq", "mails"], "\n(Did you mean orders?)"],
  ["ordes-dl", ["orders", "orders-dlq", "orders-dlp"], "\n(Did you mean one of orders-dlp, orders-dlq?)"],
  ["invoices", ["orders", "mails"], ""],
  ["--help", ["orders"], ""],
  ["hel", [], ""],
])("the name %s among %j has the suggestion %j", (name, names, text) => {
  expect(suggestion(name, names)).toBe(text);
});
