import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { descendants, eventually, freePorts, type Lab, openLab } from "./lab.ts";
import { type Running, sluice } from "./running.ts";

interface Described {
  readonly messages: { readonly ready: number };
}

/**
 * Handlers that are cut off or hang, where Wrangler owns the process. Their messages have one delivery, since
 * `max_retries` is 0.
 */
describe("sluice dev with a handler", () => {
  let lab: Lab;
  let ports: Awaited<ReturnType<typeof freePorts>>;
  let running: Running;
  const start = async () => {
    const args = ["dev", "front", "looper", ...ports.options, "--persist-to", "state"];
    const started = sluice(args, lab.folder, lab.env);
    await started.printed(/admin +http/);
    return started;
  };
  // A request that was on its way to a workerd that has died may get no answer.
  const get = (path: string) => fetch(ports.url + path, { signal: AbortSignal.timeout(20_000) });
  const send = async (text: string, queue = "poison") => {
    expect((await get(`/send/${queue}?text=${text}`)).status).toBe(200);
  };
  const waiting = async (queue: string) => {
    const response = await get(`/__sluice/api/queues/${queue}`).catch((error: Error) => error);
    if (response instanceof Error) return response.message;
    return response.ok ? ((await response.json()) as Described).messages.ready : response.status;
  };
  /** Changes a word of the consumer, which makes Wrangler start it anew. */
  const save = (word: string) =>
    writeFileSync(join(lab.folder, "looper/say.js"), `export const say = "${word}";\n`);
  const all = () => [running.pid, ...descendants(running.pid)];
  const runtimes = () =>
    descendants(running.pid)
      .map((pid) => ({ pid, line: readFileSync(`/proc/${pid}/cmdline`, "utf8") }))
      .filter(({ line }) => line.includes("--control-fd"));
  const isProxy = ({ line }: { line: string }) => !line.includes("--debug-port");
  /** Process id of the workerd that runs the Workers: Wrangler has another one as a proxy. */
  const workerd = () => runtimes().find((runtime) => !isProxy(runtime))?.pid as number;
  const proxy = () => runtimes().find(isProxy)?.pid as number;

  beforeAll(async () => {
    lab = openLab("poison");
    const file = join(lab.folder, "looper/wrangler.jsonc");
    writeFileSync(file, readFileSync(file, "utf8").replace('"max_retries": 1', '"max_retries": 0'));
    ports = await freePorts();
    running = await start();
  });
  afterAll(async () => {
    await running.stop();
    lab.remove();
  });

  it("that is cut off because a file is saved has its attempt again, however often", async () => {
    await send("wait");
    await running.printed(/begins wait, attempt 1/);
    for (const word of ["second", "third"]) {
      save(word);
      await running.printed(new RegExp(`${word} wait, attempt 1`));
    }
    expect(await waiting("graveyard")).toBe(0);
  });

  it("that is cut off by Ctrl-C in the terminal has its attempt again at the next start", async () => {
    for (const pid of all()) process.kill(pid, "SIGINT");
    await running.ended;
    running = await start();
    await running.printed(/third wait, attempt 1/);
  });

  it("that is cut off by a signal to the command alone has its attempt again too", async () => {
    await running.stop("SIGTERM");
    running = await start();
    await running.printed(/third wait, attempt 1/);
  });

  it("that is cut off by a kill -9 of everything has used its attempt", async () => {
    for (const pid of all()) process.kill(pid, "SIGKILL");
    await running.ended;
    running = await start();
    await eventually(() => waiting("graveyard"), 1);
  });

  it("whose workerd dies has used its attempt, and everything goes on", async () => {
    await send("wait");
    await running.printed(/third wait, attempt 1/);
    process.kill(workerd(), "SIGKILL");
    await running.printed(/crashed unexpectedly/);
    await eventually(() => waiting("graveyard"), 2);
  });

  it("goes on when the workerd dies by which Wrangler takes requests", async () => {
    process.kill(proxy(), "SIGKILL");
    await running.printed(/Wrangler is started again/);
    await eventually(async () => (await get("/__sluice/health").catch(() => null))?.status ?? 0, 200);
  });

  it("that never ends is named, and has used its attempt when a file is saved", async () => {
    await send("loop");
    const said = await running.printed(/have not answered since[\s\S]*count as attempts/);
    expect(said).toMatch(/queue "poison": 1 message with looper since \S+, attempt 1/);
    save("mended");
    await eventually(() => waiting("graveyard"), 3);
    expect(running.output).not.toContain("mended loop");
  });

  it("that never ends costs another Worker's delivery no attempt, and is identified", async () => {
    await send("slow", "good");
    await running.printed(/works on slow, attempt 1/);
    await send("loop");
    await running.printed(/mended loop, attempt 1/);
    await running.printed(
      /with looper since[\s\S]*with front since|with front since[\s\S]*with looper since/,
    );
    const from = running.output.length;
    save("saved");
    await running.printed(/have ended\. Several Workers had deliveries/, from);
    await running.printed(/works on slow, attempt 1[\s\S]*done with slow/, from);
    // The other delivery waited for its turn.
    await running.printed(/saved loop, attempt 1/, from);
    const said = await running.printed(
      /have not answered since[\s\S]*all of them count as attempts then/,
      from,
    );
    expect(said).toContain('those of "looper" count as attempts, no others');
    save("good");
    await eventually(() => waiting("graveyard"), 4);
    expect(running.output).not.toContain("slow, attempt 2");
  });
});
