import { spawnSync } from "node:child_process";
import { readdirSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { projectFolder } from "@sluice/project/test/project-folder";
import { describe, expect, it } from "vitest";
import { announce, leave, otherSessions, type Session, sessionsFolder } from "./sessions.ts";

const NOWHERE = { data: null, broker: null };
const PARENT: Session = {
  pid: process.ppid,
  startedAtMs: 2,
  env: "",
  files: ["/b/wrangler.toml"],
  ...NOWHERE,
};
const SELF: Session = {
  pid: process.pid,
  startedAtMs: 1,
  env: "staging",
  files: ["/a/wrangler.toml"],
  ...NOWHERE,
};
const OWN_PID = -1;

describe("sessions", () => {
  it("of others are found, the oldest first, and one's own is not among them", () => {
    const folder = projectFolder({});
    announce(folder, PARENT);
    announce(folder, SELF);
    expect(otherSessions(folder, OWN_PID)).toEqual([SELF, PARENT]);
    expect(otherSessions(folder, process.pid)).toEqual([PARENT]);
  });

  it("tell what has changed, and are gone when they end", () => {
    const folder = projectFolder({});
    announce(folder, SELF);
    announce(folder, { ...SELF, files: [] });
    expect(otherSessions(folder, OWN_PID)).toEqual([{ ...SELF, files: [] }]);
    leave(folder, SELF.pid);
    expect(otherSessions(folder, OWN_PID)).toEqual([]);
  });

  it("that say the same again are no change for who watches them", () => {
    const folder = projectFolder({});
    announce(folder, SELF);
    const file = join(folder, `${SELF.pid}.json`);
    utimesSync(file, 0, 0);
    announce(folder, SELF);
    expect(statSync(file).mtimeMs).toBe(0);
    announce(folder, { ...SELF, files: [] });
    expect(statSync(file).mtimeMs).not.toBe(0);
  });

  it("of processes that were killed are cleared away", () => {
    const folder = projectFolder({});
    const { pid } = spawnSync(process.execPath, ["--version"]);
    announce(folder, { ...SELF, pid });
    expect(otherSessions(folder, OWN_PID)).toEqual([]);
    expect(readdirSync(folder)).toEqual([]);
  });

  it("that are half written are left for later", () => {
    const folder = projectFolder({});
    writeFileSync(join(folder, "1.json"), '{"pid": 1');
    expect(otherSessions(folder, OWN_PID)).toEqual([]);
    expect(readdirSync(folder)).toEqual(["1.json"]);
  });

  it.each([
    ["null"],
    [`{"pid": ${process.ppid}}`],
    [JSON.stringify({ ...PARENT, files: [null] })],
    [JSON.stringify({ ...PARENT, data: undefined })],
    [JSON.stringify({ ...PARENT, files: ["wrangler.toml"] })],
  ])("that another version described otherwise are not there: %s", (text) => {
    const folder = projectFolder({});
    writeFileSync(join(folder, "1.json"), text);
    expect(otherSessions(folder, OWN_PID)).toEqual([]);
  });

  it("are none where somebody has deleted their folder", () => {
    expect(otherSessions(join(projectFolder({}), "gone"), OWN_PID)).toEqual([]);
  });

  it("are apart where the Workers' dev registries are apart", () => {
    expect(sessionsFolder({ WRANGLER_REGISTRY_PATH: "/r" })).toBe("/r.sluice");
    expect(sessionsFolder({})).not.toBe(sessionsFolder({ WRANGLER_REGISTRY_PATH: "/r" }));
  });
});

it("several of one process are told apart, and what they send for is known", () => {
  const folder = projectFolder({});
  const [first, second] = ["one", "two"].map((part) => ({
    ...PARENT,
    part,
    files: [],
    senders: ["/web.jsonc"],
  }));
  if (first === undefined || second === undefined) throw new Error("there are two");
  announce(folder, first);
  announce(folder, second);
  expect(otherSessions(folder, OWN_PID)).toEqual([first, second]);
  leave(folder, first.pid, first.part);
  expect(otherSessions(folder, OWN_PID)).toEqual([second]);
});
