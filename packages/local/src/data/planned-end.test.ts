import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { syncCalls } from "@sluice/objects/testing/sync-calls";
import { projectFolder } from "@sluice/project/test/project-folder";
import { describe, expect, it } from "vitest";
import { announceEnd, forgetPlannedEnd, lastEndIn, PLANNED_END_FILE } from "./planned-end.ts";

const quiet = { warn: (text: string) => expect.unreachable(text) };

describe("the end of the last broker of a data folder", () => {
  it("is a planned one if it was announced, until the next broker runs", () => {
    const folder = projectFolder({});
    announceEnd(folder, quiet);
    expect(lastEndIn(folder)).toBe("planned");
    forgetPlannedEnd(folder);
    expect(lastEndIn(folder)).toBe("unplanned");
  });

  it.runIf(process.platform !== "win32")("survives a power cut once it is announced or forgotten", () => {
    const folder = projectFolder({});
    const calls = syncCalls();
    announceEnd(folder, quiet);
    expect(calls).toEqual([`sync ${folder}`]);
    forgetPlannedEnd(folder);
    expect(calls).toEqual([`sync ${folder}`, `sync ${folder}`]);
    // Whoever saves a file waits for no disk.
    forgetPlannedEnd(folder);
    expect(calls).toHaveLength(2);
  });

  it("may be announced twice", () => {
    const folder = projectFolder({});
    announceEnd(folder, quiet);
    announceEnd(folder, quiet);
    forgetPlannedEnd(folder);
    expect(lastEndIn(folder)).toBe("unplanned");
  });

  it("is no planned one in a folder that is new", () => {
    const folder = join(projectFolder({}), "new");
    forgetPlannedEnd(folder);
    expect(lastEndIn(folder)).toBe("unplanned");
  });

  it("is said to count where it cannot be announced", () => {
    const folder = projectFolder({});
    // Nothing can be written there, whoever runs this.
    mkdirSync(join(folder, PLANNED_END_FILE));
    const lines: string[] = [];
    announceEnd(folder, { warn: (text) => lines.push(text) });
    expect(lines.join()).toContain("count as attempts: Error: EISDIR");
  });
});
