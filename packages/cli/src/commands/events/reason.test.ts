import { expect, it } from "vitest";
import { reasonOf } from "./reason.ts";

it.each([
  ["its consumer has ended", "its consumer has ended"],
  ["Error: ours\n    at run (sluice:run.ts:1:2)", "Error: ours"],
  [
    "Error: declined\n    at run (sluice:run.ts:1:2)\n    at charge (src/payment.ts:15:36)\nCaused by: Error: no",
    "Error: declined (src/payment.ts:15:36)",
  ],
])("the reason of %j is its first line and the place in the user's code", (error, reason) => {
  expect(reasonOf(error)).toBe(reason);
});
