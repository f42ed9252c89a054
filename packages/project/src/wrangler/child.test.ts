import type { ChildProcess } from "node:child_process";
import { expect, it } from "vitest";
import { ChildEnded, WranglerChild } from "./child.ts";
import { wranglerFile } from "./load-wrangler.ts";

it("a call of a Wrangler whose process is ending is rejected with its exit code, as those that wait are", async () => {
  const started = Promise.withResolvers<ChildProcess>();
  const child = new WranglerChild({
    cwd: process.cwd(),
    env: process.env,
    file: wranglerFile(),
    stdio: ["ignore", "pipe", "pipe"],
    onStart: (process) => started.resolve(process),
  });
  const waiting = child.call("defaults");
  const reading = child.answers.readCloudflareConfig("/app/cloudflare.config.ts", "");
  reading.catch(() => {});
  const its = await started.promise;
  // The channel is closed then, and the process not yet known to have ended.
  const late = new Promise((resolve, reject) => {
    its.once("disconnect", () => child.call("defaults").then(resolve, reject));
  });
  child.kill("SIGKILL");
  for (const call of [waiting, reading, late]) {
    const error = await call.then(
      () => null,
      (reason: unknown) => reason,
    );
    expect(error).toBeInstanceOf(ChildEnded);
    expect(error).toMatchObject({ code: 137, wasSignalled: true });
  }
  child[Symbol.dispose]();
});
