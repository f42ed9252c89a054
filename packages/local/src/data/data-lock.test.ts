import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { hostname, tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { idOfName } from "@sluice/objects/object-id";
import { syncCalls } from "@sluice/objects/testing/sync-calls";
import { CliError } from "@sluice/project/errors";
import { DIRECTORY_NAME } from "@sluice/protocol";
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from "vitest";
import type { Order, Outcome } from "../../test/lock-contender.ts";
import { mountSmallDisk } from "../../test/small-disk.ts";
import { goneIn, HOLDER_FILE, LOCK_FILE, lockData, OBJECTS_FOLDER, watchKept } from "./data-lock.ts";
import { announceEnd, lastEndIn } from "./planned-end.ts";

const MODULE = fileURLToPath(new URL("./data-lock.ts", import.meta.url));
/** Whom root runs something as that must not be allowed everything; `null` where nobody else may read the sources. */
const anotherUser = userBesidesRoot();

function userBesidesRoot(): { readonly uid: number } | null {
  if (process.getuid?.() !== 0) return null;
  const user = { uid: 65_534 };
  const check = `require("fs").accessSync(${JSON.stringify(MODULE)})`;
  return spawnSync(process.execPath, ["-e", check], user).status === 0 ? user : null;
}

const CONTENDER = fileURLToPath(new URL("../../test/lock-contender.ts", import.meta.url));
/** Makes what runs in it process 1, which finds nobody of those outside. */
const NAMESPACE = ["--pid", "--fork", "--kill-child", "--mount-proc"];

/**
 * Locks a folder from another process and answers what that prints to standard error: nothing if it has got the lock.
 *
 * @param then code of a promise, for what it does before it ends.
 */
function other(folder: string, user: object = {}, then = ""): string {
  const script =
    `import(${JSON.stringify(MODULE)}).then(({ lockData }) => lockData(${JSON.stringify(folder)}, "sluice serve"))${then}` +
    ".catch((error) => console.error(error.message))";
  const { stderr, error } = spawnSync(process.execPath, ["-e", script], { encoding: "utf8", ...user });
  if (error !== undefined) throw error;
  return stderr;
}

class Contender {
  readonly #child: ChildProcess;

  constructor(child: ChildProcess) {
    this.#child = child;
  }

  async order(order: Order): Promise<Outcome> {
    const outcome = once(this.#child, "message");
    this.#child.send(order);
    return (await outcome)[0];
  }

  async kill(): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    const ended = once(this.#child, "exit");
    this.#child.kill("SIGKILL");
    await ended;
  }
}

async function contend(folder: string, within: readonly string[] = []): Promise<Contender> {
  const [command = "", ...args] = [...within, process.execPath, CONTENDER, folder];
  const child = spawn(command, args, { stdio: ["ignore", "inherit", "inherit", "ipc"] });
  await once(child, "message");
  return new Contender(child);
}

describe("a data folder", () => {
  let folder: string;
  /** Whether somebody says that the folder is theirs, who may be dead. */
  const isHeld = () => existsSync(join(folder, HOLDER_FILE));
  beforeEach(() => {
    folder = join(mkdtempSync(join(tmpdir(), "sluice-lock-")), "state");
  });
  afterEach(() => rmSync(join(folder, ".."), { recursive: true, force: true }));

  it("is one process's at a time, and the others are told whose", () => {
    const free = lockData(folder, "sluice serve");
    expect(() => lockData(folder, "sluice dev")).toThrow(
      `The data in ${folder} are in use by sluice serve (process ${process.pid}). End that first, or choose`,
    );
    // The refused one has opened the lock and closed it again: the first one still has it.
    expect(other(folder)).toContain(`are in use by sluice serve (process ${process.pid}).`);
    free();
    expect(isHeld()).toBe(false);
    const freeAgain = lockData(folder, "sluice dev");
    // Whoever has given it free has nothing to give any more.
    free();
    expect(isHeld()).toBe(true);
    expect(other(folder)).toContain("are in use by sluice dev");
    freeAgain();
    expect(other(folder)).toBe("");
  });

  it("tells a program who has it, and nobody else what is in it", () => {
    const free = lockData(folder, "sluice serve");
    const holder = { pid: process.pid, command: "sluice serve", host: hostname() };
    expect(() => lockData(folder, "sluice dev")).toThrow(
      expect.objectContaining({ holder: expect.objectContaining(holder) }),
    );
    const modes = [folder, ...[LOCK_FILE, HOLDER_FILE].map((name) => join(folder, name))].map(modeOf);
    expect(modes).toEqual([0o700, 0o600, 0o600]);
    free();
  });

  it("is not taken away by a power cut: the names of its folders are synced, also of those that were there", () => {
    const calls = syncCalls();
    const around = dirname(folder);
    const names = [join(folder, "v3"), folder, around].map((path) => `sync ${path}`);
    lockData(folder, "sluice serve")();
    expect(calls).toEqual(names);
    lockData(folder, "sluice serve")();
    expect(calls).toEqual([...names, ...names]);
  });

  it("is in use by somebody whom nobody knows where that is not said, or in words that say nothing", () => {
    const free = lockData(folder, "sluice serve");
    for (const text of ["", "{}"]) {
      writeFileSync(join(folder, HOLDER_FILE), text);
      expect(() => lockData(folder, "sluice dev")).toThrow(
        `The data in ${folder} are in use by another process. End`,
      );
    }
    rmSync(join(folder, HOLDER_FILE));
    expect(() => lockData(folder, "sluice dev")).toThrow("in use by another process");
    free();
  });

  it("is in use from another container, whose process numbers mean nothing here", () => {
    const free = lockData(folder, "sluice serve");
    const holder = JSON.parse(readFileSync(join(folder, HOLDER_FILE), "utf8"));
    writeFileSync(join(folder, HOLDER_FILE), JSON.stringify({ ...holder, host: "web-1", pid: 7 }));
    expect(() => lockData(folder, "sluice dev")).toThrow(
      "in use by sluice serve (process 7 of another container or machine, web-1). End",
    );
    free();
  });

  it("is exactly one process's of three that ask at one moment, 300 times, whatever a killed one left", async () => {
    const contenders = await Promise.all([0, 1, 2].map(() => contend(folder)));
    try {
      for (let race = 0; race < 300; race++) {
        if (race % 3 === 0)
          for (const file of [LOCK_FILE, HOLDER_FILE]) rmSync(join(folder, file), { force: true });
        const takeAtMs = Date.now() + 3;
        const outcomes = await Promise.all(contenders.map((contender) => contender.order({ takeAtMs })));
        expect([...outcomes].sort(), `race ${race}`).toEqual(["held", "in use", "in use"]);
        const winner = outcomes.indexOf("held");
        if (race % 30 === 29) {
          // The kernel gives it free.
          await contenders[winner]?.kill();
          expect(isHeld()).toBe(true);
          contenders[winner] = await contend(folder);
        } else await contenders[winner]?.order({ free: true });
      }
    } finally {
      for (const contender of contenders) await contender.kill();
    }
  }, 120_000);

  const hasNamespaces = spawnSync("unshare", [...NAMESPACE, "true"]).status === 0;
  if (!hasNamespaces)
    console.warn("No PID namespace can be made here, which needs root: two containers are not tested.");
  it.runIf(hasNamespaces)("is one process's of two in PID namespaces of their own", async () => {
    const first = await contend(folder, ["unshare", ...NAMESPACE]);
    const second = await contend(folder, ["unshare", ...NAMESPACE]);
    try {
      expect(await first.order({ takeAtMs: 0 })).toBe("held");
      expect(await second.order({ takeAtMs: 0 })).toBe("in use");
      expect(other(folder)).toContain(`(process 1 of another container or machine, ${hostname()})`);
      await first.kill();
      await expect.poll(() => second.order({ takeAtMs: 0 })).toBe("held");
    } finally {
      await Promise.all([first.kill(), second.kill()]);
    }
  });

  it.each([
    ["a file", () => writeFileSync(folder, ""), "a file stands where a folder should"],
    ["a file below", () => writeBelow("v3"), "a file stands where a folder should"],
  ])("cannot be %s, and is not held then", (_, make, reason) => {
    make();
    expect(() => lockData(folder, "sluice serve")).toThrow(
      new CliError(
        `The data cannot be kept in ${folder}: ${reason}. Choose another folder with --persist-to.`,
      ),
    );
    expect(isHeld()).toBe(false);
  });

  const disk = mountSmallDisk();
  it.runIf(disk !== null)("may be on a full disk, and cannot be on one that is read-only", () => {
    const state = join(disk?.folder ?? "", "state");
    try {
      mkdirSync(join(state, OBJECTS_FOLDER), { recursive: true });
      disk?.fill();
      const free = lockData(state, "sluice serve");
      expect(other(state)).toContain("are in use by another process.");
      free();
      disk?.giveRoom();
      lockData(state, "sluice serve")();
      disk?.makeReadOnly();
      expect(() => lockData(state, "sluice serve")).toThrow("its file system is read-only");
    } finally {
      disk?.unmount();
    }
  });

  it.runIf(anotherUser !== null)("cannot have files of another user in it", () => {
    const own = join(folder, OBJECTS_FOLDER, "sluice-Directory/some.sqlite");
    mkdirSync(dirname(own), { recursive: true });
    writeFileSync(own, "", { mode: 0o644 });
    for (const path of [join(folder, ".."), folder]) chmodSync(path, 0o777);
    expect(other(folder, anotherUser ?? {})).toMatch(
      /^The data cannot be kept in \S+: \S+\/sluice-Directory: this user may not write there\. Choose/,
    );
    expect(isHeld()).toBe(false);
    lockData(folder, "sluice serve")();
  });

  it.runIf(anotherUser !== null)("is given free where nothing can be deleted in it any more", () => {
    chmodSync(dirname(folder), 0o777);
    const protect = `.then(() => require("fs").chmodSync(${JSON.stringify(folder)}, 0o555))`;
    expect(other(folder, anotherUser ?? {}, protect)).toBe("");
  });

  describe("whose data are taken away", () => {
    const directory = "sluice-Directory";
    const ofDirectory = `${directory}/${idOfName(directory, DIRECTORY_NAME)}.sqlite`;

    it.each([
      ["v3", ""],
      [OBJECTS_FOLDER, ""],
      [`${OBJECTS_FOLDER}/${directory}`, `/${directory}`],
      [`${OBJECTS_FOLDER}/sluice-QueueBroker`, "/sluice-QueueBroker"],
      [`${OBJECTS_FOLDER}/${ofDirectory}`, `/${ofDirectory}`],
    ])("is no holder's any more while its lock is there: %s", async (path, missing) => {
      const { promise, resolve: onLost } = Promise.withResolvers<CliError>();
      const free = lockData(folder, "sluice serve", onLost);
      const objects = join(folder, OBJECTS_FOLDER);
      for (const name of [directory, "sluice-QueueBroker"]) mkdirSync(join(objects, name));
      watchKept(folder, "sluice");
      expect(goneIn(folder)).toBeNull();
      // As the broker makes it.
      writeFileSync(join(objects, ofDirectory), "");
      expect(goneIn(folder)).toBeNull();
      renameSync(join(folder, path), join(folder, "away"));
      expect((await promise).message).toBe(
        `The data in ${folder} were deleted or moved away while this process had them, so it ends at once: there is ` +
          `no ${objects}${missing} any more. What it has acknowledged went with them.`,
      );
      free();
    });

    it("is its holder's while other files in it come and go", () => {
      const free = lockData(folder, "sluice serve", ({ message }) => expect.unreachable(message));
      watchKept(folder, "sluice");
      const other = join(folder, OBJECTS_FOLDER, "shop-Cart");
      mkdirSync(other);
      expect(goneIn(folder)).toBeNull();
      rmSync(other, { recursive: true });
      expect(goneIn(folder)).toBeNull();
      free();
    });
  });

  describe("whose lock file is taken away", { timeout: 60_000 }, () => {
    const OF_FILE =
      /sluice-lock\.sqlite was deleted or replaced while this process had the data: another broker may have begun/;
    const OF_DATA = /The data in .+ were deleted or moved away while .+ acknowledged went with them\./;
    it.each([
      ["deleted", () => rmSync(join(folder, LOCK_FILE)), OF_FILE],
      ["replaced", () => replaceBy("other"), OF_FILE],
      ["moved away with the folder", () => renameSync(folder, `${folder}-moved`), OF_DATA],
      ["deleted with all that is in the folder", deleteAll, OF_DATA],
    ])("ends its holder at once where it is %s, and says why", async (_, takeAway, why) => {
      const holder = await hold();
      takeAway();
      expect(await holder.ended).toBe(1);
      expect(holder.printed()).toMatch(why);
      expect(other(folder)).toBe("");
    });

    it("is given to the next one when the first has ended", async () => {
      mkdirSync(join(folder, OBJECTS_FOLDER, "sluice-QueueBroker"), { recursive: true });
      const holder = await hold();
      rmSync(join(folder, LOCK_FILE));
      const next = await hold();
      await holder.ended;
      expect(next.takenAtMs).toBeGreaterThanOrEqual(Number(/ended at (\S+)/.exec(holder.printed())?.[1]));
      expect(JSON.parse(readFileSync(join(folder, HOLDER_FILE), "utf8")).pid).toBe(next.pid);
      next.kill();
    });

    it("is nothing that its holder writes to, whatever it does at its end", async () => {
      const { promise: error, resolve: onLost } = Promise.withResolvers<CliError>();
      const free = lockData(folder, "sluice serve", onLost);
      replaceBy("other");
      expect((await error).exitCode).toBe(1);
      writeFileSync(join(folder, HOLDER_FILE), "another's");
      announceEnd(folder, console);
      free();
      expect(readFileSync(join(folder, HOLDER_FILE), "utf8")).toBe("another's");
      expect(lastEndIn(folder)).toBe("unplanned");
      const freeAgain = lockData(folder, "sluice serve");
      announceEnd(folder, console);
      expect(lastEndIn(folder)).toBe("planned");
      freeAgain();
    });

    function deleteAll(): void {
      for (const name of readdirSync(folder)) rmSync(join(folder, name), { recursive: true });
    }

    function replaceBy(name: string): void {
      writeFileSync(join(folder, name), "");
      renameSync(join(folder, name), join(folder, LOCK_FILE));
    }

    /** A process that has the folder, and does nothing else. */
    async function hold() {
      const script =
        `import(${JSON.stringify(MODULE)}).then(({ lockData }) => { ` +
        `lockData(${JSON.stringify(folder)}, "sluice serve"); ` +
        'process.once("exit", () => console.error("ended at", performance.timeOrigin + performance.now())); ' +
        "process.send(performance.timeOrigin + performance.now()); setInterval(() => {}, 1e9); })";
      const child = spawn(process.execPath, ["-e", script], { stdio: ["ignore", "inherit", "pipe", "ipc"] });
      onTestFinished(() => void child.kill("SIGKILL"));
      let printed = "";
      child.stderr?.setEncoding("utf8").on("data", (text: string) => {
        printed += text;
      });
      const ended = once(child, "close").then(([code]) => code);
      const [takenAtMs] = await once(child, "message");
      return { ended, takenAtMs, pid: child.pid, printed: () => printed, kill: () => child.kill("SIGKILL") };
    }
  });

  function modeOf(path: string): number {
    return statSync(path).mode & 0o777;
  }

  function writeBelow(name: string): void {
    mkdirSync(folder);
    writeFileSync(join(folder, name), "");
  }
});
