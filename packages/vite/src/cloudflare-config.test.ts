import { expect, it } from "vitest";
import { modeOf } from "./cloudflare-config.ts";

it.each([
  [["dev"], "development"],
  [["dev", "--mode", "staging"], "staging"],
  [["dev", "-m", "staging", "--port", "1"], "staging"],
  [["--mode=staging", "dev"], "staging"],
  [["dev", "--mode"], "development"],
  [["dev", "--model", "x"], "development"],
])("the mode of vite %j is %s", (args, mode) => {
  expect(modeOf(["node", "vite", ...args])).toBe(mode);
});
