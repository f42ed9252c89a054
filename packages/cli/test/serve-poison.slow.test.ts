import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { PLANNED_END_FILE } from "@sluice/local/data/planned-end";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import getPort from "./free-port.ts";
import { descendants, eventually, isRunning, type Lab, openLab } from "./lab.ts";
import { type Running, sluice } from "./running.ts";

const STATE = "state";

interface Described {
  readonly messages: { readonly ready: number; readonly leased: number };
}

/** One test after the other, beside those of the other suite. */
const IN_TURN = { concurrent: false };

/**
 * Serves Workers whose handlers hang, die or are cut off, for the tests of a suite. Each test continues after the one
 * before: each end of workerd within a minute makes the pause before the next start longer, and a new command begins
 * without one.
 *
 * @param hasInspector whether a debugger can be opened at first: only the user ends a handler there.
 */
function servePoison(hasInspector: boolean) {
  let lab: Lab;
  let port: number;
  let running: Running;
  const serve = async (...args: string[]) => {
    running = sluice(
      ["serve", "front", "looper", "--port", `${port}`, "--persist-to", STATE, ...args],
      lab.folder,
      lab.env,
    );
    await running.printed(/data {4}/);
  };
  const get = (path: string) => fetch(`http://127.0.0.1:${port}${path}`);
  const whenUp = () => eventually(async () => (await get("/")).status, 200);
  const send = async (queue: string, text: string) => {
    // An answer of 503 may mean that the message is stored, so it is not sent again.
    await whenUp();
    expect((await get(`/send/${queue}?text=${text}`)).status).toBe(200);
  };
  const counted = async (queue: string, what: keyof Described["messages"]) => {
    const response = await get(`/__sluice/api/queues/${queue}`);
    return response.ok ? ((await response.json()) as Described).messages[what] : response.status;
  };
  /** Number of messages that no Worker has. */
  const waiting = (queue: string) => counted(queue, "ready");
  const handled = async () => {
    const response = await get("/");
    return response.ok ? await response.json() : response.status;
  };
  const workerdOf = () => {
    const pids = descendants(running.pid).filter((pid) =>
      readFileSync(`/proc/${pid}/cmdline`, "utf8").includes("--control-fd="),
    );
    expect(pids).toHaveLength(1);
    return pids[0] as number;
  };

  beforeAll(async () => {
    lab = openLab("poison");
    port = await getPort();
    await serve(...(hasInspector ? ["--inspector-port", `${await getPort()}`] : []));
  });
  afterAll(async () => {
    await running?.stop("SIGKILL");
    lab.remove();
  });
  return {
    /** The command that runs. */
    get running() {
      return running;
    },
    get stateFolder() {
      return join(lab.folder, STATE);
    },
    ...{ serve, get, send, counted, waiting, handled, workerdOf },
  };
}

describe("sluice serve", { concurrent: true }, () => {
  describe("with a handler", IN_TURN, () => {
    const poison = servePoison(true);

    it("that never ends has used its attempt when it is ended by Ctrl-C", async () => {
      await poison.send("poison", "loop");
      await poison.running.printed(/begins loop, attempt 1/);
      expect(await poison.running.stop()).toBe(0);
      expect(poison.running.output).toContain("do not answer: a handler may hang");
      expect(existsSync(join(poison.stateFolder, PLANNED_END_FILE))).toBe(false);
      await poison.serve();
      await poison.running.printed(/begins loop, attempt 2/);
    });

    it("that never ends delays no other queue, and its message is a dead letter after max_retries", async () => {
      // The request that comes meanwhile is answered before its client gives up.
      const meanwhile = await poison.get("/");
      expect([meanwhile.status, meanwhile.headers.get("retry-after")]).toEqual([503, "2"]);
      const said = await poison.running.printed(/attempt 2\n[\s\S]*started again[\s\S]*In delivery:\n.*/);
      expect(said).toMatch(/queue "poison": 1 message\(s\) with looper since \S+, attempt 2/);
      await eventually(poison.handled, []);
      await poison.send("good", "other");
      await eventually(() => poison.waiting("graveyard"), 1);
      expect(await poison.waiting("poison")).toBe(0);
      await eventually(poison.handled, ["other"]);
      expect(poison.running.output).not.toContain("attempt 3");
    });

    it("of HTTP that never ends is ended as well, and costs no message an attempt", async () => {
      // A handled message is in delivery until that is recorded.
      await eventually(() => poison.counted("good", "leased"), 0);
      const from = poison.running.output.length;
      const loops = poison.get("/loop");
      await poison.running.printed(/started again[\s\S]*Nothing is in delivery/, from);
      expect((await loops).status).toBe(503);
      await eventually(poison.handled, []);
    });
  });
});

describe("sluice serve", { concurrent: true }, () => {
  describe("with a handler, in another project,", IN_TURN, () => {
    const poison = servePoison(false);

    it("that takes all memory costs its message an attempt, and the others nothing", async () => {
      await poison.send("poison", "memory");
      await poison.running.printed(/begins memory, attempt 1/);
      await poison.running.printed(/begins memory, attempt 2/);
      await poison.send("good", "again");
      await eventually(async () => JSON.stringify(await poison.handled()).includes("again"), true);
      await eventually(() => poison.counted("poison", "leased"), 0);
      expect(await poison.waiting("graveyard")).toBe(0);
    });

    it("that is cut off by a signal has its attempt again", async () => {
      await poison.send("poison", "wait");
      await poison.running.printed(/begins wait, attempt 1/);
      expect(await poison.running.stop("SIGHUP")).toBe(0);
      await poison.serve();
      await poison.running.printed(/begins wait, attempt 1/);
    });

    it("whose workerd is killed counts the attempt, and goes on", async () => {
      const killed = poison.workerdOf();
      process.kill(killed, "SIGKILL");
      await poison.running.printed(/workerd has ended by itself with 137[\s\S]*with looper since/);
      await poison.running.printed(/begins wait, attempt 2/);
      expect(poison.workerdOf()).not.toBe(killed);
    });

    it("that is cut off by kill -9 has used its last attempt", async () => {
      const started = descendants(poison.running.pid);
      expect(await poison.running.stop("SIGKILL")).toBe("SIGKILL");
      await eventually(async () => started.filter(isRunning), []);
      await poison.serve();
      await eventually(() => poison.waiting("graveyard"), 1);
    });
  });
});
