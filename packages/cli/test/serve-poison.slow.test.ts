import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { PLANNED_END_FILE } from "@sluice/local/data/planned-end";
import getPort from "@sluice/protocol/test/free-port";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { descendants, eventually, isRunning, type Lab, openLab } from "./lab.ts";
import { type Running, sluice } from "./running.ts";

const STATE = "state";

interface Described {
  readonly messages: { readonly ready: number; readonly leased: number };
}

/**
 * Workers whose handlers hang, die or are cut off. Each test continues after the one before: each end of workerd within
 * a minute makes the pause before the next start longer, and a new command begins without one.
 */
describe("sluice serve with a handler", () => {
  let lab: Lab;
  let port: number;
  let running: Running;
  const serve = async (...args: string[]) => {
    const started = sluice(
      ["serve", "front", "looper", "--port", `${port}`, "--persist-to", STATE, ...args],
      lab.folder,
      lab.env,
    );
    await started.printed(/data {4}/);
    return started;
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
    // Only the user ends a handler there.
    running = await serve("--inspector-port", `${await getPort()}`);
  });
  afterAll(async () => {
    await running?.stop("SIGKILL");
    lab.remove();
  });

  it("that never ends has used its attempt when it is ended by Ctrl-C", async () => {
    await send("poison", "loop");
    await running.printed(/begins loop, attempt 1/);
    expect(await running.stop()).toBe(0);
    expect(running.output).toContain("do not answer: a handler may hang");
    expect(existsSync(join(lab.folder, STATE, PLANNED_END_FILE))).toBe(false);
    running = await serve();
    await running.printed(/begins loop, attempt 2/);
  });

  it("that never ends delays no other queue, and its message is a dead letter after max_retries", async () => {
    // The request that comes meanwhile is answered before its client gives up.
    const meanwhile = await get("/");
    expect([meanwhile.status, meanwhile.headers.get("retry-after")]).toEqual([503, "2"]);
    const said = await running.printed(/attempt 2\n[\s\S]*started again[\s\S]*In delivery:\n.*/);
    expect(said).toMatch(/queue "poison": 1 message with looper since \S+, attempt 2/);
    await eventually(handled, []);
    await send("good", "other");
    await eventually(() => waiting("graveyard"), 1);
    expect(await waiting("poison")).toBe(0);
    await eventually(handled, ["other"]);
    expect(running.output).not.toContain("attempt 3");
  });

  it("of HTTP that never ends is ended as well, and costs no message an attempt", async () => {
    // A handled message is in delivery until that is recorded.
    await eventually(() => counted("good", "leased"), 0);
    const from = running.output.length;
    const loops = get("/loop");
    await running.printed(
      /No queue\(\) handler was at work.*started again[\s\S]*Nothing is in delivery/,
      from,
    );
    expect((await loops).status).toBe(503);
    await eventually(handled, []);
  });

  it("that takes all memory costs its message an attempt, and the others nothing", async () => {
    await send("poison", "memory");
    await running.printed(/begins memory, attempt 1/);
    await running.printed(/begins memory, attempt 2/);
    await send("good", "again");
    await eventually(async () => JSON.stringify(await handled()).includes("again"), true);
    await eventually(() => counted("poison", "leased"), 0);
    expect(await waiting("graveyard")).toBe(1);
  });

  it("that is cut off by a signal has its attempt again", async () => {
    await send("poison", "wait");
    await running.printed(/begins wait, attempt 1/);
    expect(await running.stop("SIGHUP")).toBe(0);
    running = await serve();
    await running.printed(/begins wait, attempt 1/);
  });

  it("whose workerd is killed counts the attempt, and goes on", async () => {
    const killed = workerdOf();
    process.kill(killed, "SIGKILL");
    await running.printed(/workerd has ended by itself with 137[\s\S]*with looper since/);
    await running.printed(/begins wait, attempt 2/);
    expect(workerdOf()).not.toBe(killed);
  });

  it("that is cut off by kill -9 has used its last attempt", async () => {
    const started = descendants(running.pid);
    expect(await running.stop("SIGKILL")).toBe("SIGKILL");
    await eventually(async () => started.filter(isRunning), []);
    running = await serve();
    await eventually(() => waiting("graveyard"), 2);
  });
});
