import { spawnSync } from "node:child_process";
import { expect, it } from "vitest";

/**
 * Runs a program in a process of its own and answers its standard error, the only place where V8 reports an option that
 * it does not have.
 */
function outputOf(program: string): string {
  const { status, stderr } = spawnSync(process.execPath, ["--input-type=module", "-e", program], {
    encoding: "utf8",
  });
  expect(status).toBe(0);
  return stderr;
}

it("asks for what this V8 has", () => {
  const module = JSON.stringify(new URL("heap.ts", import.meta.url));
  expect(outputOf(`const { letHeapGrow } = await import(${module}); letHeapGrow();`)).toBe("");
  // So that is how it would be said.
  expect(
    outputOf(`import { setFlagsFromString } from "node:v8"; setFlagsFromString("--heap-per-mille=1");`),
  ).toContain("unrecognized flag");
});
