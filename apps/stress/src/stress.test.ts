import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, it, onTestFinished } from "vitest";
import { type StressRun, stress } from "./stress.ts";

/** Fails in its second run. */
const TEST = `
import { existsSync, writeFileSync } from "node:fs";
import { expect, it } from "vitest";
it("runs", () => {
  const isSecond = existsSync("ran");
  writeFileSync("ran", existsSync("ran-again") ? "" : "once");
  if (isSecond && !existsSync("ran-again")) {
    writeFileSync("ran-again", "");
    expect("the second run").toBe("all right");
  }
});
`;

it("runs files as often as it is told, and tells which runs have failed and why", async () => {
  // Where vitest is found, and no other test run looks.
  const root = fileURLToPath(new URL("../.stress-tmp", import.meta.url));
  mkdirSync(root, { recursive: true });
  const folder = mkdtempSync(join(root, "project-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  writeFileSync(join(folder, "package.json"), '{ "type": "module" }');
  writeFileSync(join(folder, "vitest.config.js"), "export default { test: { include: ['*.check.js'] } };\n");
  writeFileSync(join(folder, "one.check.js"), TEST);
  const runs: StressRun[] = [];
  const failed = await stress({
    files: ["one.check.js"],
    folder,
    times: 3,
    load: 1,
    onRun: (run) => runs.push(run),
  });
  expect(failed).toBe(1);
  expect(runs.map(({ number, hasPassed }) => [number, hasPassed])).toEqual([
    [1, true],
    [2, false],
    [3, true],
  ]);
  expect(runs[1]?.output).toContain("the second run");
  expect(runs.every(({ tookMs }) => tookMs > 0)).toBe(true);
}, 120_000);
