import { execFileSync } from "node:child_process";
import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { startChild } from "@sluice/harness/child";
import getPort from "get-port";
import { endOf, environmentOf, wordsOf } from "./lab.ts";
import type { Manager } from "./managers.ts";
import { BESIDE, writeProject } from "./project.ts";

export interface InstallOptions {
  readonly manager: Manager;
  /** Path of the Node.js for all steps. */
  readonly node: string;
  /** Path of the manager's program (`Manager.bin`). */
  readonly bin: string;
  readonly archives: readonly string[];
  /** Packages that are replaced by an empty one. */
  readonly without: readonly string[];
  /** New folder for the project. */
  readonly folder: string;
}

/** Result of an install. */
export interface Tried {
  /** Descriptions of the steps that have failed. */
  readonly problems: readonly string[];
  /** Size of our packages in `node_modules`, in bytes; 0 if there are none. */
  readonly bytes: number;
}

/** Installs the archives into a new project, and uses them there. */
export async function tryInstall(options: InstallOptions): Promise<Tried> {
  const { manager, node, bin, archives, without, folder } = options;
  writeProject(folder, manager.files ?? {}, without);
  const env = {
    ...environmentOf(folder, node),
    // Lets Yarn write a lock file, which it expects to exist in CI.
    YARN_ENABLE_IMMUTABLE_INSTALLS: "false",
  };
  const run = (command: string, ...args: readonly string[]) =>
    execFileSync(command, args, { cwd: folder, env, encoding: "utf8", stdio: "pipe" });
  const [program, first] = manager.isProgram === true ? [bin, []] : [node, [bin]];
  const problems: string[] = [];
  const step = async (name: string, act: () => string | Promise<string>, expected: RegExp) => {
    try {
      const printed = await act();
      if (!expected.test(printed)) problems.push(`${name} prints: ${endOf(printed)}`);
    } catch (error) {
      problems.push(`${name}: ${endOf(wordsOf(error))}`);
    }
  };
  const files = archives.map((archive) =>
    manager.package.startsWith("@yarnpkg") ? named(archive) : archive,
  );
  await step("install", () => `${run(program, ...first, ...manager.add, ...files, ...BESIDE)}done`, /done/);
  if (problems.length > 0) return { problems, bytes: 0 };
  const isPlugAndPlay = manager.isPlugAndPlay === true;
  const started = (name: string): readonly [string, ...string[]] =>
    isPlugAndPlay
      ? [program, ...first, name]
      : [name === "node" ? name : join(folder, "node_modules/.bin", name)];
  const printedBy = (name: string, ...args: readonly string[]) => {
    const [command, ...before] = started(name);
    return run(command, ...before, ...args);
  };
  await step("node", () => printedBy("node", "--version"), new RegExp(`^${run(node, "--version").trim()}`));
  await step("sluice --version", () => printedBy("sluice", "--version"), /^\d+\.\d+\.\d+/);
  await step("sluice doctor", () => printedBy("sluice", "doctor", "--json"), /"findings"/);
  await step("imports", () => printedBy("node", "imports.js"), /^function,function,function/);
  await step("sluice dev", () => handled(started("sluice"), folder, env), /got \?hello/);
  const own = isPlugAndPlay ? [] : ["sluice", "@sluice/testing", "@sluice/vite"];
  return { problems, bytes: own.reduce((sum, name) => sum + sizeOf(join(folder, "node_modules", name)), 0) };
}

/** Runs `sluice dev`, sends a message, and returns the output once the handler has the message. */
async function handled(
  [command, ...before]: readonly [string, ...string[]],
  folder: string,
  env: NodeJS.ProcessEnv,
): Promise<string> {
  const [port, inspectorPort] = await Promise.all([getPort(), getPort()]);
  const args = [...before, "dev", "--port", `${port}`, "--inspector-port", `${inspectorPort}`];
  const child = startChild(command, args, { cwd: folder, env });
  try {
    await child.ready(() => /admin +http/.test(child.output));
    await fetch(`http://localhost:${port}/?hello`);
    await child.ready(() => child.output.includes("got ?hello"));
    return child.output;
  } finally {
    await child.stop("SIGINT");
  }
}

/** Makes the name of an archive for Yarn: its package, and its path after `file:`. */
function named(archive: string): string {
  const name = /([^/]+)-\d+\.\d+\.\d+\.tgz$/.exec(archive)?.[1] ?? "";
  return `${name.replace(/^sluice-/, "@sluice/")}@file:${archive}`;
}

function sizeOf(path: string): number {
  const files = readdirSync(path, { recursive: true, encoding: "utf8" }).map((file) =>
    statSync(join(path, file)),
  );
  return files.reduce((sum, stat) => sum + (stat.isFile() ? stat.size : 0), 0);
}
