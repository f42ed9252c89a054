import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { cpuMsOf } from "@sluice/protocol/test/cpu-time";
import { afterAll, expect, it } from "vitest";
import { withUsersFiles } from "./build-places.ts";

const root = mkdtempSync(join(tmpdir(), "sluice-places-"));
mkdirSync(join(root, "src"));
writeFileSync(join(root, "src/a b.ts"), "");
afterAll(() => rmSync(root, { recursive: true, force: true }));

const generated = join(root, ".sluice/dev/sluice/shop");

it("the files of a build's errors are named from the user's folder", () => {
  const message = [
    '✘ [ERROR] Unexpected "="',
    "",
    "    ../../../../src/a b.ts:19:9:",
    "      19 │ const x: = 3;",
    '../../../../src/a b.ts:19:9: ERROR: Unexpected "="',
  ];
  const named = ["    src/a b.ts:19:9:", message[3], 'src/a b.ts:19:9: ERROR: Unexpected "="'];
  expect(withUsersFiles(message.join("\n"), generated, root).split("\n")).toEqual([
    ...message.slice(0, 2),
    ...named,
  ]);
  expect(withUsersFiles("../../../../src/a b.ts:1:2:", generated, join(root, "src"))).toBe("a b.ts:1:2:");
});

it.each(["\n", "\r", "\u2028", " ", "../\r", "../\n", "../ "])(
  "a long message of %j is read in one pass",
  async (part) => {
    const message = part.repeat(128_000);
    const tookMs = await cpuMsOf(() => expect(withUsersFiles(message, generated, root)).toBe(message));
    // Milliseconds are enough; reading on from each part to the end takes many seconds.
    expect(tookMs).toBeLessThan(1_000);
  },
);

it.each([
  "    ../../../../src/gone.ts:19:9:",
  "    entry.js:5:20:",
  "see ../../../../src/a b.ts:19:9:",
  "    ../../../../src/a b.ts:19",
])("what names no place in a file that is there stays as it is: %s", (line) => {
  expect(withUsersFiles(line, generated, root)).toBe(line);
});
