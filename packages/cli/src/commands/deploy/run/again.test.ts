import { expect, it } from "vitest";
import type { Part } from "../parts.ts";
import { againOf, withoutTags } from "./again.ts";

const part = (name: string, config: object = {}): Part => {
  const isBroker = name === "sluice";
  return {
    name,
    isBroker,
    needs: [],
    directory: "",
    configFile: `${name}.json`,
    config: JSON.stringify(config),
  };
};
const parts = [part("web"), part("mailer", { containers: [{ class_name: "Box" }] }), part("sluice")];
const nothing = { force: false, secrets: [], unfinished: { has: () => false }, unmarked: new Set<string>() };

it("a Worker is deployed again for its containers, for an unfinished step, and for --force", () => {
  const containers = "its containers are deployed after its code, and may not be there";
  expect([...againOf(parts, nothing)]).toEqual([["mailer", containers]]);
  const unfinished = { has: (name: string) => name === "web" };
  expect([...againOf(parts, { ...nothing, unfinished })]).toEqual([
    ["web", "its last deployment did not end"],
    ["mailer", containers],
  ]);
  expect(againOf(parts, { ...nothing, unmarked: new Set(["web"]) }).get("web")).toBe(
    "it is not marked with this project and this broker yet",
  );
  expect([...againOf(parts, { ...nothing, force: true }).values()]).toEqual(Array(3).fill("--force"));
});

it("a broker is deployed again with the secrets that are set, and the Workers are not", () => {
  const again = againOf(parts.slice(0, 1).concat(part("sluice")), { ...nothing, secrets: ["A", "B"] });
  expect([...again]).toEqual([["sluice", "with A, B"]]);
});

it("a part that is deployed again counts as changed, and keeps its bindings", () => {
  const live = new Map([
    ["web", { tag: "one", services: [] }],
    ["sluice", { tag: "two", services: ["web"] }],
  ]);
  expect(Object.fromEntries(withoutTags(live, new Map([["sluice", "why"]])))).toEqual({
    web: { tag: "one", services: [] },
    sluice: { tag: null, services: ["web"] },
  });
});
