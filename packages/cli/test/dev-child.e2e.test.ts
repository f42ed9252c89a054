import {
  cpSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { commandLineOf, descendants, eventually, freePorts, isRunning, type Lab, openLab } from "./lab.ts";
import { type Running, sluice } from "./running.ts";

/** Installs a copy of Wrangler whose `main` has another name, as one of a later version may have. */
function installOtherWrangler(folder: string): void {
  const wrangler = realpathSync(dirname(createRequire(import.meta.url).resolve("wrangler/package.json")));
  const modules = join(folder, "node_modules");
  const copy = join(modules, "wrangler");
  mkdirSync(modules);
  const ownModules = join(wrangler, "node_modules");
  cpSync(wrangler, copy, { recursive: true, filter: (path) => !path.startsWith(ownModules) });
  const beside = dirname(wrangler);
  for (const name of readdirSync(beside)) {
    if (name !== "wrangler") symlinkSync(join(beside, name), join(modules, name));
  }
  const cli = join(copy, "wrangler-dist/cli.js");
  const source = readFileSync(cli, "utf8");
  const renamed = source.replace("async function main(argv)", "async function run0(argv)");
  expect(renamed).not.toBe(source);
  writeFileSync(
    cli,
    renamed.replaceAll(/\bmain\((hideBin\w*\()/g, "run0($1").replace("__name(main,", "__name(run0,"),
  );
}

describe("sluice dev with a Wrangler whose main function it cannot call", () => {
  let lab: Lab;
  let running: Running;
  let url: string;
  const start = async () => {
    const ports = await freePorts();
    url = ports.url;
    running = sluice(["dev", "sender", "receiver", "--env", "x", ...ports.options], lab.folder, lab.env);
    await running.printed(/admin +http/);
  };

  beforeAll(async () => {
    lab = openLab("staged");
    installOtherWrangler(lab.folder);
    await start();
  });
  afterAll(async () => {
    await running.stop();
    lab.remove();
  });

  it("runs it as the program of one process, that of the project", async () => {
    expect(await (await fetch(`${url}/?1`)).text()).toBe("sent");
    await running.printed(/got \?1 on jobs-x/);
    const lines = descendants(running.pid).map(commandLineOf);
    expect(lines.filter((line) => line.includes(join(lab.folder, "node_modules/wrangler")))).toHaveLength(1);
  });

  it("ends every process that it started when it is interrupted or killed", async () => {
    for (const signal of ["SIGINT", "SIGKILL"] as const) {
      const children = descendants(running.pid);
      expect(await running.stop(signal)).toBe(signal === "SIGINT" ? 130 : "SIGKILL");
      await eventually(async () => children.filter(isRunning), []);
      if (signal === "SIGINT") await start();
    }
  });
});
