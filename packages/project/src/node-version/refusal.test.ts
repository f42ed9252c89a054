import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { nodeRefusal } from "./refusal.ts";

it.each(["20.20.2", "22.15.99", "22.9.0"])("Node.js %s is refused with an explanation", (version) => {
  expect(nodeRefusal(version)).toBe(`sluice needs Node.js 22.16 or later, and this is ${version}.`);
});

it.each(["22.16.0", "22.17.0", "23.0.0", "24.1.0"])("Node.js %s is accepted", (version) => {
  expect(nodeRefusal(version)).toBe(null);
});

it("the oldest Node.js is that of package.json", () => {
  const { engines } = JSON.parse(readFileSync(new URL("../../../cli/package.json", import.meta.url), "utf8"));
  expect(engines.node).toBe(">=22.16.0");
  expect(nodeRefusal("22.16.0")).toBe(null);
  expect(nodeRefusal("22.15.0")).not.toBe(null);
});
