import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { freePorts, type Lab, openLab } from "./lab.ts";
import { type Running, sluice, wrangler } from "./running.ts";

describe("sluice build", () => {
  let lab: Lab;
  const started: Running[] = [];
  const folder = (name: string) => join(lab.folder, name);

  beforeAll(async () => {
    lab = openLab("shop");
    const build = sluice(["build", "front", "objects", "mailer"], lab.folder, lab.env);
    expect(await build.ended, build.output).toBe(0);
  });
  afterAll(async () => {
    await Promise.all(started.map((running) => running.stop()));
    lab.remove();
  });

  it.each([
    ["front", "env.__SLUICE_QUEUES (QueueBroker, defined in sluice)"],
    ["objects", "env.COUNTER (Counter)"],
    ["mailer", "env.INBOX (Inbox)"],
  ])("a plain wrangler deploy in the folder of %s takes what was generated", async (name, binding) => {
    const deploy = wrangler(["deploy", "--dry-run"], folder(name), lab.env);
    expect(await deploy.ended, deploy.output).toBe(0);
    expect(deploy.output).toContain(`.sluice/${name}/wrangler.json`);
    expect(deploy.output).toContain(binding);
  });

  it("wrangler deploy takes the generated broker", async () => {
    const config = ".sluice/sluice/wrangler.json";
    const deploy = wrangler(["deploy", "--dry-run", "--config", config], lab.folder, lab.env);
    expect(await deploy.ended, deploy.output).toBe(0);
    expect(deploy.output).toContain("env.CONSUMER_MAILER (mailer#SluiceQueueConsumer)");
  });

  it("consumer, producers and broker meet in processes of their own, whichever comes first", async () => {
    const ports = await freePorts(8);
    const start = async (cwd: string, ...args: string[]) => {
      const [port, inspectorPort] = ports.splice(0, 2);
      const ownPorts = ["--port", `${port}`, "--inspector-port", `${inspectorPort}`];
      const running = wrangler(["dev", ...args, ...ownPorts], cwd, lab.env);
      started.push(running);
      await running.printed(/Ready on/);
      return `http://localhost:${port}`;
    };
    await start(folder("mailer"));
    const front = await start(folder("front"));
    await start(folder("objects"));
    await start(lab.folder, "--config", ".sluice/sluice/wrangler.json", "--persist-to", "state");

    const received = async () => (await fetch(`${front}/received`)).json();
    const send = async (path: string) => (await fetch(front + path)).text();
    await expect.poll(() => send("/send/class?text=from-front"), { timeout: 30_000 }).toBe("sent");
    await expect.poll(() => send("/send/object?text=from-objects"), { timeout: 30_000 }).toBe("sent");
    await expect
      .poll(received, { timeout: 30_000 })
      .toEqual(expect.arrayContaining(["from-front", "from-objects"]));
    expect((await fetch(`${front}/__sluice/health`)).status).toBe(404);
  });
});
