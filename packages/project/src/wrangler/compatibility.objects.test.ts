import { expect, it } from "vitest";
import { hasDurableObjects, type ObjectClasses } from "./compatibility.ts";

const NONE: ObjectClasses = { name: "api", durable_objects: { bindings: [] }, migrations: [], exports: {} };
const binding = { name: "ROOMS", class_name: "Room" };

it.each<[string, boolean, Partial<ObjectClasses>]>([
  ["nothing", false, {}],
  ["a binding", true, { durable_objects: { bindings: [binding] } }],
  [
    "a binding to its own name",
    true,
    { durable_objects: { bindings: [{ ...binding, script_name: "api" }] } },
  ],
  ["one to another Worker", false, { durable_objects: { bindings: [{ ...binding, script_name: "rooms" }] } }],
  ["a migration", true, { migrations: [{ tag: "v1", new_sqlite_classes: ["Room"] }] }],
  ["an exported class", true, { exports: { Room: { type: "durable-object", storage: "sqlite" } } }],
  ["an exported entrypoint", false, { exports: { Api: { type: "worker" } } }],
])("a Worker with %s has Durable Objects of its own: %s", (_what, has, config) => {
  expect(hasDurableObjects({ ...NONE, ...config })).toBe(has);
});
