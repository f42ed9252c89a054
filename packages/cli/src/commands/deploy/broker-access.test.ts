import { expect, it } from "vitest";
import { addressAmong } from "./broker-access.ts";

it.each([
  [
    ["https://sluice.shop.workers.dev", "queues.example.com (custom domain)"],
    "https://sluice.shop.workers.dev",
  ],
  [["queues.example.com (custom domain)"], "https://queues.example.com"],
  [["queues.example.com (custom domain - zone name: example.com)"], "https://queues.example.com"],
  [["example.com/queues/* (zone name: example.com)"], null],
  [[], null],
])("a broker's address is picked from %j: %j", (targets, address) => {
  expect(addressAmong(targets)).toBe(address);
});
