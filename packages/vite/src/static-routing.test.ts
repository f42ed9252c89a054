import { expect, it } from "vitest";
import { withPathOfBroker } from "./static-routing.ts";

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
    "a list, and a page for what is not found",
    { not_found_handling: "single-page-application", run_worker_first: ["/api/*"] },
    { not_found_handling: "single-page-application", run_worker_first: ["/api/*", ...OURS] },
  ],
  [
    "a page for what is not found, and no list",
    { not_found_handling: "single-page-application" },
    { not_found_handling: "single-page-application" },
  ],
] as const)("%s", (_, assets, expected) => {
  expect(withPathOfBroker(assets as Parameters<typeof withPathOfBroker>[0])).toEqual(expected);
});
