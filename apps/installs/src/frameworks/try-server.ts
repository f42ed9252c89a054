import { execFileSync } from "node:child_process";
import { appendFileSync, existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { type Child, STOP_MS_MAX, startChild } from "@sluice/harness/child";
import getPort from "get-port";
import type { Framework } from "./frameworks.ts";
import { processesOf } from "./processes.ts";
import { CHANGED, LEFT_BY_DEV, WORD } from "./project.ts";

const SLUICE = "node_modules/sluice/dist/main.js";
const LOOK_EVERY_MS = 200;
/** Time limit for a page, in ms. Nuxt never answers a request during a restart of its server, so it is repeated. */
const PAGE_MS_MAX = 30_000;
const CHARACTERS_SHOWN = 150;

/**
 * Builds a project, which must use no bindings, and runs its dev server and `sluice dev`. Sends from the page and in
 * each of the other ways, and from the page again after its source and its configuration have changed. `sluice dev`
 * must handle each message, and the end of the servers must leave no process.
 *
 * @param words further arguments of the framework's command.
 * @throws Error that describes the first failure.
 */
export async function tryServer(
  framework: Framework,
  words: readonly string[],
  { project, env: environment }: { readonly project: string; readonly env: NodeJS.ProcessEnv },
): Promise<void> {
  const env = {
    ...environment,
    // Without requests to other servers, and telemetry.
    CLOUDFLARE_CF_FETCH_ENABLED: "false",
    NEXT_TELEMETRY_DISABLED: "1",
    NUXT_TELEMETRY_DISABLED: "1",
  };
  const tool = join("node_modules", framework.tool);
  execFileSync(process.execPath, [tool, "build", ...words], {
    cwd: project,
    env,
    encoding: "utf8",
    stdio: "pipe",
  });
  const leftByBuild = LEFT_BY_DEV.filter((name) => existsSync(join(project, name)));
  if (leftByBuild.length > 0) throw new Error(`the build has asked for bindings: there is ${leftByBuild}`);

  const children: Child[] = [];
  const start = (...args: string[]) => {
    const child = startChild(process.execPath, args, { cwd: project, env, pollMs: LOOK_EVERY_MS });
    children.push(child);
    return child;
  };
  try {
    const [port, devPort, inspectorPort] = await Promise.all([getPort(), getPort(), getPort()]);
    const origin = `http://localhost:${port}`;
    const server = start(tool, "dev", ...words, "--port", `${port}`);
    const shows = (text: string, send: string) =>
      server.ready(async () => (await seen(`${origin}/?send=${send}`)).includes(text));
    await shows(`${WORD}: `, "first");

    const ports = ["--port", `${devPort}`, "--inspector-port", `${inspectorPort}`];
    const post = start(SLUICE, "dev", "post", "--persist-to", ".wrangler/state", ...ports);
    const handles = (text: string) => post.ready(() => post.output.includes(`got ${text}\n`));
    await handles("first");

    for (const [name, send] of Object.entries(framework.ways)) {
      const { status } = await send(origin, name);
      if (status !== 200) throw new Error(`${name}: ${status}\n${server.output}`);
      await handles(name);
    }

    const source = join(project, framework.source);
    writeFileSync(source, readFileSync(source, "utf8").replace(WORD, CHANGED));
    await shows(CHANGED, "changed");
    await handles("changed");

    const before = server.output.length;
    appendFileSync(join(project, framework.config), "// changed\n");
    await server.ready(() => /restarting/i.test(server.output.slice(before)));
    await shows(CHANGED, "restarted");
    await handles("restarted");

    for (const child of children) await interrupt(child);
    await gone(project);
  } finally {
    for (const child of children) await child.stop("SIGKILL");
    for (const { pid } of processesOf(project)) killIfThere(pid);
  }
}

function killIfThere(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch {
    // It has ended meanwhile.
  }
}

/** Fetches the text that a page shows. Throws if there is none. */
async function seen(url: string): Promise<string> {
  const response = await fetch(url, { signal: AbortSignal.timeout(PAGE_MS_MAX) });
  const text = await response.text();
  if (!response.ok) throw new Error(`${url} answers ${response.status}`);
  return text.replaceAll(/<!--.*?-->/g, "");
}

/** Ends a process as Ctrl-C in a terminal does: its children get the signal too. */
async function interrupt(child: Child): Promise<void> {
  process.kill(-child.pid, "SIGINT");
  await Promise.race([child.whenEnded(), sleep(STOP_MS_MAX, undefined, { ref: false })]);
  if (child.ended === null) throw new Error(`it goes on after Ctrl-C\n${child.output}`);
}

/** Waits until no process of a project runs. */
async function gone(project: string): Promise<void> {
  const deadlineMs = Date.now() + STOP_MS_MAX;
  let left = processesOf(project);
  for (; left.length > 0 && Date.now() < deadlineMs; left = processesOf(project)) await sleep(LOOK_EVERY_MS);
  if (left.length === 0) return;
  const lines = left.map(({ pid, command }) => `${pid} ${command.slice(0, CHARACTERS_SHOWN)}`);
  throw new Error(`processes are left:\n${lines.join("\n")}`);
}
