import { chmodSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { Checkpoint } from "./checkpoint.ts";
import { toFile } from "./sink.ts";

let folder: string;
let umask: number;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "sluice-sink-"));
  umask = process.umask(0o022);
});

afterEach(() => {
  process.umask(umask);
  rmSync(folder, { recursive: true });
});

const modeOf = (file: string) => (statSync(file).mode & 0o777).toString(8);

it.runIf(process.platform !== "win32").each([
  ["a new file", "wx"],
  ["a file that everybody could read and an export goes on with", "r+"],
] as const)("an export into %s is its owner's alone, and so is the note beside it", (_what, flags) => {
  const file = join(folder, "out.jsonl");
  if (flags === "r+") {
    writeFileSync(file, "whole\nbroken");
    chmodSync(file, 0o644);
  }
  const checkpoint = new Checkpoint<{ readonly bytes: number }>(`${file}.sluice-export`);
  const sink = toFile(file, flags, flags === "r+" ? 6 : 0, checkpoint);
  expect(modeOf(file)).toBe("600");
  sink.write("line\n");
  sink.keep({});
  expect(modeOf(checkpoint.file)).toBe("600");
  sink.end();
  expect(modeOf(file)).toBe("600");
  expect(readFileSync(file, "utf8")).toBe(flags === "r+" ? "whole\nline\n" : "line\n");
});

it("an export refuses to go on with a file that has become shorter", () => {
  const file = join(folder, "out.jsonl");
  writeFileSync(file, "whole");
  const checkpoint = new Checkpoint<{ readonly bytes: number }>(`${file}.sluice-export`);
  expect(() => toFile(file, "r+", 6, checkpoint)).toThrow("out.jsonl has 5 bytes, and 6 were written");
  expect(readFileSync(file, "utf8")).toBe("whole");
});
