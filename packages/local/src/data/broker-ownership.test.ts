import { spawnSync } from "node:child_process";
import { hostname } from "node:os";
import { join } from "node:path";
import { projectFolder } from "@sluice/project/test/project-folder";
import { SHARING_VERSION_MIN } from "@sluice/project/wrangler/load-wrangler";
import { describe, expect, it, onTestFinished } from "vitest";
import { writeEntry } from "../processes/registry.ts";
import { type Session, type Sessions, sessionsOf } from "../processes/sessions.ts";
import { BrokerOwnership } from "./broker-ownership.ts";
import { DataInUseError, HOLDER_FILE, lockData } from "./data-lock.ts";

function folders() {
  const folder = projectFolder({});
  return {
    data: join(folder, "state"),
    sessions: sessionsOf({ WRANGLER_REGISTRY_PATH: join(folder, "registry") }),
  };
}

/** Another session that has a data folder: the lock is held here, in its name. */
function leaderOf(data: string, sessions: Sessions, change: Partial<Session> = {}) {
  const free = lockData(data, "sluice dev");
  const session = { pid: process.ppid, startedAtMs: 1, env: "", files: ["/a.jsonc"], data, broker: "kept" };
  sessions.announce({ ...session, ...change });
  onTestFinished(free);
  return { free, session };
}

async function own(
  data: string,
  sessions: Sessions,
  files = ["/b.jsonc"],
  wranglerVersion = SHARING_VERSION_MIN,
): Promise<BrokerOwnership> {
  const ownership = await BrokerOwnership.open({ data, env: "", files, sessions, wranglerVersion });
  onTestFinished(() => ownership.leave());
  return ownership;
}

describe("the broker of a data folder", () => {
  it("is the first session's, and used by those that have none", async () => {
    const { data, sessions } = folders();
    const ownership = await own(data, sessions);
    expect(ownership.owner).toEqual({ kind: "own" });
    expect(await ownership.change()).toBeNull();
    const session = { pid: 1, startedAtMs: 1, env: "", files: [], data, broker: null };
    expect(ownership.isUsedBy(session)).toBe(true);
    expect(ownership.isUsedBy({ ...session, broker: "sluice" })).toBe(false);
    expect(ownership.isUsedBy({ ...session, data: "/elsewhere" })).toBe(false);
  });

  it("is used by the second session, which takes it over by its name when the first one ends", async () => {
    const { data, sessions } = folders();
    const { free, session } = leaderOf(data, sessions);
    const ownership = await own(data, sessions);
    expect(ownership.owner).toEqual({ kind: "joined", leader: session });
    expect(await ownership.change()).toBeNull();
    expect(ownership.isVacant).toBe(false);
    free();
    sessions.leave(session);
    expect(await ownership.change()).toEqual({ kind: "own" });
    expect(ownership.brokerName).toBe("kept");
    expect(() => lockData(data, "sluice dev")).toThrow(DataInUseError);
  });

  it.each(["sluice dev", "getPlatformProxy"])(
    "is waited for where a %s has taken it just now",
    async (command) => {
      const { data, sessions } = folders();
      const free = lockData(data, command);
      onTestFinished(free);
      const { ppid: pid } = process;
      writeEntry(join(data, HOLDER_FILE), { pid, command, host: hostname(), pidNamespace: null });
      const opening = own(data, sessions);
      const session = { pid, startedAtMs: 1, env: "", files: ["/a.jsonc"], data, broker: "kept" };
      sessions.announce(session);
      expect((await opening).owner).toEqual({ kind: "joined", leader: session });
    },
  );

  it("is not shared by a Wrangler whose Workers would not reach it", async () => {
    const { data, sessions } = folders();
    leaderOf(data, sessions);
    const other = () => own(data, sessions, ["/b.jsonc"], "4.83.0");
    await expect(other()).rejects.toThrow(/in use by sluice dev \(process \d+\)\. End that first, /);
    await expect(other()).rejects.toThrow(
      / To share its broker takes Wrangler 4\.84\.0 or newer, and this is 4\.83\.0\.$/,
    );
  });

  it("is vacant once its process was killed", async () => {
    const { data, sessions } = folders();
    const { session } = leaderOf(data, sessions);
    const ownership = await own(data, sessions);
    const { pid } = spawnSync(process.execPath, ["--version"]);
    const killed = { ...session, pid };
    Object.assign(ownership.owner, { leader: killed });
    expect(ownership.isVacant).toBe(true);
  });

  it("is not used by a Worker that runs on the folder already, in whichever session", async () => {
    const { data, sessions } = folders();
    const { session } = leaderOf(data, sessions);
    await expect(own(data, sessions, ["/b.jsonc", "/a.jsonc"])).rejects.toThrow(
      `/a.jsonc runs already: in another "sluice dev" (process ${session.pid}) on the same data.`,
    );
    // Process 1 is always there.
    sessions.announce({ ...session, pid: 1, files: ["/b.jsonc"], broker: null });
    await expect(own(data, sessions, ["/b.jsonc"])).rejects.toThrow("/b.jsonc runs already");
  });

  it.each<[why: string, change: Partial<Session>, files: string[]]>([
    ["of another environment", { env: "staging" }, ["/b.jsonc"]],
    ["of another folder", { data: "/elsewhere" }, ["/b.jsonc"]],
    ["of a session that uses another one's itself", { broker: null }, ["/b.jsonc"]],
    ["for no Worker at all", {}, []],
  ])("is not used if it is that %s: the folder is refused", async (_, change, files) => {
    const { data, sessions } = folders();
    leaderOf(data, sessions, change);
    await expect(own(data, sessions, files)).rejects.toThrow(DataInUseError);
  });
});
