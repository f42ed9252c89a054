import { expect, it } from "vitest";
import { startChild } from "./child.ts";

const node = (program: string) => startChild(process.execPath, ["-e", program], { pollMs: 5 });

it("a child is ready when its output says so, and holds what it has printed", async () => {
  const child = node("console.log('ready'); console.error('loud'); setInterval(() => {}, 1000)");
  await child.ready(() => child.output.includes("ready") && child.output.includes("loud"));
  expect(child.ended).toBeNull();
  await child.stop();
  expect(child.ended).toEqual({ code: null, signal: "SIGTERM" });
});

it("a child that ends before it is ready fails with what it has printed", async () => {
  const child = node("console.error('no such folder'); process.exitCode = 3");
  await expect(child.ready(() => false)).rejects.toThrow(/ended with 3/);
  await child.whenEnded();
  expect(child.output).toBe("no such folder\n");
});

it("a child that ends is not ready, also where the question never settles", async () => {
  const child = node("process.exitCode = 3");
  await expect(child.ready(() => new Promise(() => {}))).rejects.toThrow(/ended with 3/);
});

it("a child that is stopped takes with it all that it has started", async () => {
  const child = node(`
    const { spawn } = require("node:child_process");
    spawn(process.execPath, ["-e", "console.log('started'); setInterval(() => {}, 1000)"], { stdio: "inherit" });
    setInterval(() => {}, 1000);
  `);
  await child.ready(() => child.output.includes("started"));
  await child.stop();
  // Its output is not at an end as long as any of them holds the other end.
  await child.whenEnded();
});

it("a child that cannot be started is not ready", async () => {
  const child = startChild("/no/such/program", []);
  await expect(child.ready(() => false)).rejects.toThrow(/ENOENT/);
  await child.stop();
});
