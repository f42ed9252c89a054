import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { readCommandLine } from "./command-line.ts";

describe("pnpm mutate", () => {
  let packages: string;
  const read = (...args: string[]) => readCommandLine(args, packages);

  beforeAll(() => {
    packages = mkdtempSync(join(tmpdir(), "sluice-mutate-"));
    mkdirSync(join(packages, "engine/src"), { recursive: true });
    mkdirSync(join(packages, "no-package"));
    writeFileSync(join(packages, "engine/package.json"), "{}");
    writeFileSync(join(packages, "engine/src/heap.ts"), "");
  });
  afterAll(() => rmSync(packages, { recursive: true }));

  it("takes all sources of a package, and asks for 90 percent", () => {
    expect(read("engine")).toEqual({
      kind: "run",
      request: {
        directory: join(packages, "engine"),
        packageName: "engine",
        mutate: ["src/**/*.ts", "!src/**/*.test.ts"],
        scoreMin: 90,
        force: false,
        workers: 2,
      },
    });
  });

  it("takes the files that are named, another score, and starts anew on request", () => {
    expect(read("engine", "src/heap.ts", "--break", "100", "--again")).toMatchObject({
      kind: "run",
      request: { mutate: ["src/heap.ts"], scoreMin: 100, force: true },
    });
    expect(read("engine", "--workers", "1")).toMatchObject({ request: { workers: 1 } });
    expect(read("engine", "--workers", "64")).toMatchObject({ request: { workers: 64 } });
    expect(read("engine", "--break", "0")).toMatchObject({ request: { scoreMin: 0 } });
  });

  it.each([
    [[], "Name a package: engine."],
    [["no-package"], 'There is no package "no-package": engine.'],
    [["engine", "src/heep.ts"], "There is no src/heep.ts in "],
    [["engine", "--break", "101"], '--break is a number from 0 to 100, not "101".'],
    [["engine", "--break=-1"], '--break is a number from 0 to 100, not "-1".'],
    [["engine", "--break", ""], '--break is a number from 0 to 100, not "".'],
    [["engine", "--workers", "0"], '--workers is a whole number from 1 to 64, not "0".'],
    [["engine", "--workers", "65"], '--workers is a whole number from 1 to 64, not "65".'],
    [["engine", "--workers", "1.5"], '--workers is a whole number from 1 to 64, not "1.5".'],
    [["engine", "--workers", ""], '--workers is a whole number from 1 to 64, not "".'],
    [["engine", "--brake"], "Unknown option '--brake'"],
  ])("%j is a mistake", (args, reason) => {
    expect(read(...args)).toMatchObject({ kind: "wrong", reason: expect.stringContaining(reason) });
  });

  it("--help says how it is used", () => {
    expect(read("--help")).toEqual({ kind: "usage" });
  });
});
