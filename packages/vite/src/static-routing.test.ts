import { expect, it } from "vitest";
import { routingWithBroker } from "./static-routing.ts";

type Assets = Parameters<typeof routingWithBroker>[0]["assets"];

const FLAGS = ["nodejs_compat"];
const WORKER = { compatibility_date: "2026-09-01", compatibility_flags: FLAGS };
const OURS = ["/__sluice", "/__sluice/*"];

it.each([
  ["no assets", undefined, { run_worker_first: OURS }],
  ["assets", { binding: "ASSETS" }, { binding: "ASSETS", run_worker_first: OURS }],
  ["the Worker first", { run_worker_first: true }, { run_worker_first: true }],
  ["a list", { run_worker_first: ["/api/*"] }, { run_worker_first: ["/api/*", ...OURS] }],
  [
    "a list of everything",
    { run_worker_first: ["/*", "!/files/*"] },
    { run_worker_first: ["/*", "!/files/*"] },
  ],
  [
    "a list, and a page for missing files",
    { not_found_handling: "single-page-application", run_worker_first: ["/api/*"] },
    { not_found_handling: "single-page-application", run_worker_first: ["/api/*", ...OURS] },
  ],
  [
    "a page for missing files, and no list",
    { not_found_handling: "404-page" },
    { not_found_handling: "404-page" },
  ],
] as const)("the routing of a Worker is changed for the broker: %s", (_, assets, expected) => {
  const routing = routingWithBroker({ ...WORKER, assets: assets as Assets });
  expect(routing).toEqual({ assets: expected, compatibility_flags: FLAGS, frontDoor: { kind: "open" } });
});

it("a single-page application gets navigations in its entry", () => {
  const assets: Assets = { not_found_handling: "single-page-application" };
  const routed = {
    assets: { ...assets, binding: "__SLUICE_ASSETS" },
    compatibility_flags: [...FLAGS, "assets_navigation_has_no_effect"],
    frontDoor: { kind: "asks-assets-for-pages", binding: "__SLUICE_ASSETS" },
  };
  expect(routingWithBroker({ ...WORKER, assets })).toEqual(routed);
  const prefers = [...FLAGS, "assets_navigation_prefers_asset_serving"];
  const early = { ...WORKER, compatibility_date: "2025-03-31" };
  expect(routingWithBroker({ ...early, compatibility_flags: prefers, assets })).toEqual(routed);
  const { frontDoor } = routingWithBroker({ ...WORKER, assets: { ...assets, binding: "FILES" } });
  expect(frontDoor).toMatchObject({ binding: "FILES" });

  // Where navigations have no special handling, the Worker gets them anyway.
  const open = { assets, frontDoor: { kind: "open" } };
  expect(routingWithBroker({ ...early, assets })).toMatchObject(open);
  const hasNoEffect = [...FLAGS, "assets_navigation_has_no_effect"];
  expect(routingWithBroker({ ...WORKER, compatibility_flags: hasNoEffect, assets })).toMatchObject(open);
});
