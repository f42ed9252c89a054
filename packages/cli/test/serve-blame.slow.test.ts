import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import getPort from "@sluice/protocol/test/free-port";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { eventually, type Lab, openLab } from "./lab.ts";
import { type Running, sluice } from "./running.ts";

/** Two Workers in one runtime, one of which hangs. Their messages have one delivery and no dead-letter queue. */
describe("sluice serve with a handler that never ends", () => {
  let lab: Lab;
  let port: number;
  let running: Running;
  const get = (path: string) => fetch(`http://127.0.0.1:${port}${path}`);
  const send = async (queue: string, text: string) => {
    await eventually(async () => (await get("/")).status, 200);
    expect((await get(`/send/${queue}?text=${text}`)).status).toBe(200);
  };
  const handled = async () => {
    const response = await get("/");
    return response.ok ? ((await response.json()) as string[]) : [];
  };
  const configure = (worker: string, from: string, to: string) => {
    const file = join(lab.folder, worker, "wrangler.jsonc");
    const text = readFileSync(file, "utf8");
    expect(text).toContain(from);
    writeFileSync(file, text.replace(from, to));
  };

  beforeAll(async () => {
    lab = openLab("poison");
    configure("front", '"max_batch_timeout": 0', '"max_batch_timeout": 0, "max_retries": 0');
    configure("looper", '"max_retries": 1, "dead_letter_queue": "graveyard"', '"max_retries": 0');
    port = await getPort();
    running = sluice(
      ["serve", "front", "looper", "--port", `${port}`, "--persist-to", "state"],
      lab.folder,
      lab.env,
    );
    await running.printed(/data {4}/);
  });
  afterAll(async () => {
    await running?.stop("SIGKILL");
    lab.remove();
  });

  it("counts an attempt only for that handler's Worker, and goes on", async () => {
    await send("good", "slow");
    await running.printed(/works on slow, attempt 1/);
    await send("poison", "loop");
    await running.printed(/begins loop, attempt 1/);
    await running.printed(
      /started again\. Several Workers had deliveries and cannot be told apart.*\nIn delivery/,
    );
    await running.printed(/Dropped message "[^"]*" on queue "poison" after 1 failed attempt/);
    await running.printed(/done with slow/);
    // The new runtime does not know what was handled before the last one ended.
    await send("good", "other");
    await eventually(async () => (await handled()).includes("other"), true);
    expect(running.output).toContain(
      'Of the deliveries that this end cuts off those of "looper" count as attempts',
    );
    expect(running.output).not.toContain('on queue "good" after');
    expect(running.output).not.toMatch(/(loop|slow), attempt 2/);
  });
});
