import { expect, it } from "vitest";
import { idOfName } from "./object-id.ts";

it("gives a name the id that workerd gives it", () => {
  expect(idOfName("sluice-QueueBroker", "q")).toBe(
    "eaaf3c9061bf2de08fdee34c30e70820ea14d6523a3f9dc3b05c8751ff88d99e",
  );
  expect(idOfName("sluice-Directory", "directory")).toBe(
    "2f00abc4bbb24b580cb5d5f09b5cd56b399cc4a19d6391e18406e17ea60a34ca",
  );
});
