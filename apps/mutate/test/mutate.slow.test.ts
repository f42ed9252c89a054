import { execFile } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { HAS_OTHERS, OTHERS } from "sluice/test/others";
import { afterAll, beforeAll, expect, it } from "vitest";

/** Two functions: a test notices every change of the first and no change of the second. */
const SOURCE = `
export function isPositive(value: number): boolean {
  return value > 0;
}
export function isNegative(value: number): boolean {
  return value < 0;
}
`;
const TEST = `
import { expect, it } from "vitest";
import { isNegative, isPositive } from "./sign.ts";
it("is positive above zero", () => {
  expect([-1, 0, 1].map(isPositive)).toEqual([false, false, true]);
});
it("runs", () => void isNegative(1));
`;

let folder: string;

beforeAll(() => {
  // Where vitest is found, and no other test run looks.
  const root = fileURLToPath(new URL("../.stryker-tmp", import.meta.url));
  mkdirSync(root, { recursive: true });
  folder = mkdtempSync(join(root, "package-"));
  mkdirSync(join(folder, "src"));
  writeFileSync(join(folder, "package.json"), '{ "type": "module" }');
  writeFileSync(join(folder, "src/sign.ts"), SOURCE);
  writeFileSync(join(folder, "src/sign.test.ts"), TEST);
});
afterAll(() => rmSync(folder, { recursive: true }));

it.skipIf(!HAS_OTHERS)(
  "finds what the tests miss, and nothing that they notice, and fails below the score that is asked for",
  async () => {
    const stryker = join(OTHERS, ".bin/stryker");
    const settings = fileURLToPath(new URL("../stryker.config.mjs", import.meta.url));
    const run = promisify(execFile)(stryker, ["run", settings, "--concurrency", "1"], { cwd: folder });
    const { code, stdout } = await run.then(
      () => expect.unreachable("a score of 50 is enough"),
      (error: { code: number; stdout: string }) => error,
    );
    expect(code, stdout).toBe(1);
    // Each function: its body, the comparison made true, made false, and moved by one in two ways.
    expect(stdout).toContain("Final mutation score 50.00 under breaking threshold 90");
    expect(stdout).toContain("-     return value < 0;");
    expect(stdout).not.toContain("-     return value > 0;");
  },
);
