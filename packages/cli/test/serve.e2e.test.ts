import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { descendants, eventually, freePorts, isRunning, type Lab, openLab } from "./lab.ts";
import { type Running, sluice } from "./running.ts";

/** The Workers of the shop on workerd alone, killed and started again with the same data. */
describe("sluice serve", () => {
  let lab: Lab;
  let port: number;
  let running: Running;
  const serve = async (...args: string[]) => {
    const started = sluice(
      ["serve", ...args, "--port", `${port}`, "--persist-to", "state"],
      lab.folder,
      lab.env,
    );
    await started.printed(/data {4}/);
    return started;
  };
  const get = async (path: string) => (await fetch(`http://127.0.0.1:${port}${path}`)).text();

  beforeAll(async () => {
    lab = openLab("shop");
    [port = 0] = await freePorts(1);
    running = await serve("front", "objects", "mailer");
  });
  afterAll(async () => {
    await running.stop();
    lab.remove();
  });

  it("says where everything is, and what is not there", () => {
    expect(running.output).toContain(`front   http://127.0.0.1:${port}/`);
    expect(running.output).toContain(`queues  http://127.0.0.1:${port}/__sluice/`);
    expect(running.output).toContain(`data    ${join(lab.folder, "state")}`);
    expect(running.output).toContain('does not serve the static assets of Worker "front"');
  });

  it("delivers what Workers and their Durable Objects send", async () => {
    expect(await get("/send/class?text=served")).toBe("sent");
    expect(await get("/send/object?text=from-an-object")).toBe("sent");
    await eventually(async () => JSON.parse(await get("/received")).sort(), ["from-an-object", "served"]);
  });

  it("lets programs of this machine use the broker, and not move its clock", async () => {
    expect(JSON.parse(await get("/__sluice/health"))).toMatchObject({ status: "ok" });
    const clock = await fetch(`http://127.0.0.1:${port}/__sluice/api/clock`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ advanceMs: 1_000 }),
    });
    expect(clock.ok).toBe(false);
    expect((await clock.text()).toLowerCase()).toContain("development");
  });

  it("refuses a port that is in use in words", async () => {
    const second = sluice(["serve", "--port", `${port}`], lab.folder, lab.env);
    expect(await second.ended).toBe(1);
    expect(second.output).toContain(`127.0.0.1:${port} is in use by another process`);
  });

  it("finds the backlog after kill -9, which takes workerd along", async () => {
    expect(await get("/send/nobody?text=kept")).toBe("sent");
    const started = descendants(running.pid);
    expect(started.length).toBeGreaterThan(0);
    expect(await running.stop("SIGKILL")).toBe("SIGKILL");
    await eventually(async () => started.filter(isRunning), []);
    running = await serve("front", "objects", "mailer");
    expect(await get("/backlog/nobody")).toBe("1");
    expect(JSON.parse(await get("/received")).sort()).toEqual(["from-an-object", "served"]);
  });

  it.each(["SIGINT", "SIGTERM"] as const)(
    "ends with workerd at %s, and the broker alone has the same queues",
    async (signal) => {
      const started = descendants(running.pid);
      expect(await running.stop(signal)).toBe(0);
      await eventually(async () => started.filter(isRunning), []);
      running = await serve();
      const { queues } = JSON.parse(await get("/__sluice/api/queues"));
      expect(queues.map(({ name }: { name: string }) => name)).toContain("nobodys");
    },
  );
});
