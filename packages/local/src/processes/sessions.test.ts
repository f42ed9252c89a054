import { execFileSync, spawnSync } from "node:child_process";
import { chownSync, mkdirSync, readdirSync, statSync, symlinkSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { projectFolder } from "@sluice/project/test/project-folder";
import { describe, expect, it } from "vitest";
import { type Session, sessionsOf } from "./sessions.ts";

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

function sessionsHere() {
  const registry = join(projectFolder({}), "registry");
  const sessions = sessionsOf({ WRANGLER_REGISTRY_PATH: registry });
  mkdirSync(sessions.folder);
  return sessions;
}

describe("sessions", () => {
  it("of others are found, the oldest first, and one's own is not among them", () => {
    const sessions = sessionsHere();
    sessions.announce(PARENT);
    sessions.announce(SELF);
    expect(sessions.running()).toEqual([SELF, PARENT]);
    expect(sessions.others()).toEqual([PARENT]);
  });

  it("tell what has changed, and are gone when they end", () => {
    const sessions = sessionsHere();
    sessions.announce(SELF);
    sessions.announce({ ...SELF, files: [] });
    expect(sessions.running()).toEqual([{ ...SELF, files: [] }]);
    sessions.leave(SELF);
    expect(sessions.running()).toEqual([]);
  });

  it("that say the same again are no change for who watches them", () => {
    const sessions = sessionsHere();
    sessions.announce(SELF);
    const file = join(sessions.folder, `${SELF.pid}.json`);
    utimesSync(file, 0, 0);
    sessions.announce(SELF);
    expect(statSync(file).mtimeMs).toBe(0);
    sessions.announce({ ...SELF, files: [] });
    expect(statSync(file).mtimeMs).not.toBe(0);
  });

  it("of processes that were killed are cleared away", () => {
    const sessions = sessionsHere();
    const { pid } = spawnSync(process.execPath, ["--version"]);
    sessions.announce({ ...SELF, pid });
    expect(sessions.running()).toEqual([]);
    expect(readdirSync(sessions.folder)).toEqual([]);
  });

  it("that are half written are left for later", () => {
    const sessions = sessionsHere();
    writeFileSync(join(sessions.folder, "1.json"), '{"pid": 1');
    expect(sessions.running()).toEqual([]);
    expect(readdirSync(sessions.folder)).toEqual(["1.json"]);
  });

  it.each([
    ["null"],
    [`{"pid": ${process.ppid}}`],
    [JSON.stringify({ ...PARENT, files: [null] })],
    [JSON.stringify({ ...PARENT, data: undefined })],
    [JSON.stringify({ ...PARENT, files: ["wrangler.toml"] })],
    [JSON.stringify({ ...PARENT, modules: { "/b/cloudflare.config.ts": { root: {} } } })],
    [
      JSON.stringify({
        ...PARENT,
        modules: { "/b/cloudflare.config.ts": { root: [], consumerTriggers: [] } },
      }),
    ],
  ])("that another version described otherwise are not there: %s", (text) => {
    const sessions = sessionsHere();
    writeFileSync(join(sessions.folder, "1.json"), text);
    expect(sessions.running()).toEqual([]);
  });

  it("tell what they have read of their modules", () => {
    const sessions = sessionsHere();
    const root = { name: "b", queues: { consumers: [{ queue: "q" }] } };
    const session = { ...PARENT, modules: { "/b/cloudflare.config.ts": { root, consumerTriggers: [0] } } };
    sessions.announce(session);
    expect(sessions.others()).toEqual([session]);
  });

  it.skipIf(process.platform === "win32")("are no links, and nothing that waits for a writer", () => {
    const sessions = sessionsHere();
    const elsewhere = join(sessions.folder, "../elsewhere");
    writeFileSync(elsewhere, JSON.stringify(PARENT));
    symlinkSync(elsewhere, join(sessions.folder, "1.json"));
    execFileSync("mkfifo", [join(sessions.folder, "2.json")]);
    expect(sessions.running()).toEqual([]);
  });

  it.skipIf(process.getuid?.() !== 0)("of another user are not there", () => {
    const sessions = sessionsHere();
    sessions.announce(PARENT);
    chownSync(join(sessions.folder, `${PARENT.pid}.json`), 65534, 65534);
    expect(sessions.running()).toEqual([]);
  });

  it("are none where somebody has deleted their folder", () => {
    expect(sessionsOf({ WRANGLER_REGISTRY_PATH: join(projectFolder({}), "gone") }).running()).toEqual([]);
  });

  it("are apart where the Workers' dev registries are apart", () => {
    expect(sessionsOf({ WRANGLER_REGISTRY_PATH: "/r" }).folder).toBe("/r.sluice");
    // Wrangler goes by this one first.
    const both = { CLOUDFLARE_DEV_REGISTRY_PATH: "/all", WRANGLER_REGISTRY_PATH: "/r" };
    expect(sessionsOf(both).folder).toBe("/all.sluice");
    expect(sessionsOf({ WRANGLER_REGISTRY_PATH: "" }).folder).toBe(sessionsOf({}).folder);
    expect(sessionsOf({}).folder).not.toBe(sessionsOf({ WRANGLER_REGISTRY_PATH: "/r" }).folder);
  });
});

it("several of one process are told apart, and what they send for is known", () => {
  const sessions = sessionsHere();
  const [first, second] = ["one", "two"].map((part) => ({
    ...PARENT,
    part,
    files: [],
    senders: ["/web.jsonc"],
  }));
  if (first === undefined || second === undefined) throw new Error("there are two");
  sessions.announce(first);
  sessions.announce(second);
  expect(sessions.running()).toEqual([first, second]);
  sessions.leave(first);
  expect(sessions.running()).toEqual([second]);
});
