import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import { projectFolder } from "@sluice/project/test/project-folder";
import { describe, expect, it, onTestFinished } from "vitest";
import { collected } from "../test/collected.ts";
import { run } from "./command-line.ts";

/** Runs a command line that ends before any command starts. */
async function said(...args: string[]) {
  const { printer, said } = collected();
  return { code: await run(args, printer), ...said };
}

function goTo(folder: string): void {
  const before = process.cwd();
  process.chdir(folder);
  onTestFinished(() => process.chdir(before));
}

describe("sluice", () => {
  it("--help lists the commands", async () => {
    const { code, out } = await said("--help");
    expect(code).toBe(0);
    expect(out).toContain("dev [options] [worker...]");
    expect(out).toContain("build [options] [worker...]");
    expect(out).toContain("serve [options] [worker...]");
  });

  it.each([
    ["dev", ["--port", "--ip", "--persist-to", "--env", "--inspector-port"]],
    ["build", ["--env", "--outdir"]],
    [
      "serve",
      ["--port", "--host", "--persist-to", "--env", "--inspector-port", "--log-format", "--ready-line"],
    ],
    ["worker-daemon", ["--url", "--port", "--host", "--persist-to", "--log-format"]],
  ])("%s --help lists its options", async (command, options) => {
    const { code, out } = await said(command, "--help");
    expect(code).toBe(0);
    for (const option of options) expect(out).toContain(`${option} <`);
  });

  it("--version prints the package's version", async () => {
    expect(await said("--version")).toEqual({ code: 0, out: "0.1.0\n", err: "" });
  });

  it.each([
    [["dev", "--prot", "1"], "unknown option '--prot'\n(Did you mean --port?)"],
    [["dve"], "unknown command 'dve'\n(Did you mean dev?)"],
    [["redrive", "orders-dead"], "unknown command 'redrive'\n(Did you mean queues redrive?)"],
    [["pause"], "unknown command 'pause'\n(Did you mean queues pause?)"],
    [
      ["list"],
      "unknown command 'list'\n(Did you mean one of queues list, alerts list, tokens list, faults list?)",
    ],
    [["queues", "purge", "", "--force"], "argument 'name' is empty"],
    [["messages", "send", ""], "argument 'queue' is empty"],
    [["export", ""], "argument 'queue' is empty"],
    [["dev", "--port", "65536"], "A port is a number from 0 to 65535."],
    [["dev", "--port", "-1"], "A port is a number from 0 to 65535."],
    [["dev", "--port", "1e3"], "A port is a number from 0 to 65535."],
    [["dev", "--env"], "option '--mode, --env <name>' argument missing"],
    [["dev", "--mode", "prod", "--env", "staging"], "The environment is named already, as 'prod'."],
    [
      ["deploy", "--env", "staging", "--mode", "prod"],
      "argument 'prod' is invalid. The environment is named already",
    ],
    [[], "Usage: sluice"],
  ])("%j is a usage error with exit code 2", async (args, message) => {
    const { code, err } = await said(...args);
    expect(err).toContain(message);
    expect(code).toBe(2);
  });

  it("the same environment may be named twice", async () => {
    const { code, err } = await said("build", "/nowhere", "--mode", "prod", "--env", "prod");
    expect({ code, err }).toEqual({ code: 1, err: "/nowhere: No such file or folder.\n" });
  });

  it.each(["dev", "build", "serve", "worker-daemon"])(
    "%s points to its own help after a mistake",
    async (command) => {
      const { err } = await said(command, "--nonsense");
      expect(err).toContain(`(see sluice ${command} --help)`);
    },
  );

  it("exits with 1 when the user's files cannot be used, and prints no stack", async () => {
    const { code, err } = await said("build", "/nowhere");
    expect(code).toBe(1);
    expect(err).toBe("/nowhere: No such file or folder.\n");
  });

  it.each<[persistTo: string, reason: string]>([
    ["file/state", "a file stands where a folder should"],
    // Node's own recursive mkdir never ends there.
    ...(existsSync("/proc/self") ? [["/proc/sluice", "nothing can be made there"] as [string, string]] : []),
  ])("says in one line that its data cannot be kept in %s, and why", async (persistTo, reason) => {
    const folder = projectFolder({ file: "" });
    goTo(folder);
    const { code, err } = await said("serve", "--persist-to", persistTo);
    expect(code).toBe(1);
    expect(err).toBe(
      `The data cannot be kept in ${resolve(folder, persistTo)}: ${reason}. Choose another folder with --persist-to.\n`,
    );
  });

  it("says in one line that it cannot write what it generates, and why", async () => {
    const folder = projectFolder({
      ".sluice": "a file",
      "wrangler.toml": 'name = "app"\nmain = "index.js"\ncompatibility_date = "2026-01-01"\n',
      "index.js": "export default { fetch: () => new Response() };",
    });
    goTo(folder);
    const { code, err } = await said("serve", ".", "--persist-to", join(folder, "state"));
    expect(code).toBe(1);
    expect(err).toBe(
      `${join(folder, ".sluice/.gitignore")} cannot be written: a file stands where a folder should.\n`,
    );
  });
});
