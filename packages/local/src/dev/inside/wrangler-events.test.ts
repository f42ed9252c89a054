import { expect, it } from "vitest";
import { type DevEnvironment, listenToWrangler, type WranglerEvent } from "./wrangler-events.ts";

it("events are told of with the Worker's environment, after Wrangler's own parts, to each listener", () => {
  const order: unknown[] = [];
  const prototype: DevEnvironment = {
    config: {},
    dispatch({ type }) {
      order.push(["wrangler", type]);
    },
  };
  const listenerOf =
    (name: string) =>
    (environment: DevEnvironment, { type }: WranglerEvent) =>
      order.push([name, type, environment.config.latestConfig?.name]);
  listenToWrangler({ unstable_DevEnv: { prototype } }, [], listenerOf("one"), listenerOf("two"));
  const latestConfig = { name: "shop", entrypoint: "/shop/index.ts" };
  const environment: DevEnvironment = Object.assign(Object.create(prototype), { config: { latestConfig } });
  environment.dispatch({ type: "bundleStart" });
  expect(order).toEqual([
    ["wrangler", "bundleStart"],
    ["one", "bundleStart", "shop"],
    ["two", "bundleStart", "shop"],
  ]);
});

it("a Wrangler without these parts stays as it is", () => {
  expect(() => listenToWrangler({}, [], () => {})).not.toThrow();
});
