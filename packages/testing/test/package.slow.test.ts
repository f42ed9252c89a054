import { execFileSync, spawnSync } from "node:child_process";
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { HAS_OTHERS, OTHERS } from "sluice/test/others";
import { afterAll, beforeAll, expect, it } from "vitest";
import { WRANGLER_VERSION_MIN } from "../src/runtime/prepare.ts";
import { installedProject, PACKAGE, TSC, type Wrangler } from "./installed-project.ts";

/** Projects by their Wrangler, which is one of those that this package is tested with. */
const projects: Partial<Record<Wrangler, string>> = {};
const WRANGLERS: readonly Wrangler[] = HAS_OTHERS ? ["wrangler", "oldest"] : ["wrangler"];

beforeAll(() => {
  for (const wrangler of WRANGLERS) {
    projects[wrangler] = installedProject("orders", { beside: ["@types/node"], wrangler });
  }
});
afterAll(() => {
  for (const project of Object.values(projects)) rmSync(project, { recursive: true, force: true });
});

it("the package uses the project's own Wrangler, from the oldest tested version on", () => {
  const manifestOf = (folder: string) => JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
  const { peerDependencies } = manifestOf(PACKAGE);
  const { devDependencies } = manifestOf(join(OTHERS, ".."));
  expect(peerDependencies.wrangler).toBe(`^${WRANGLER_VERSION_MIN}`);
  expect(devDependencies["wrangler-4.106"]).toBe(`npm:wrangler@${WRANGLER_VERSION_MIN}`);
});

it.each(WRANGLERS)("the packed package tests a project with its %s", (wrangler) => {
  const project = projects[wrangler] ?? "";
  const code = `
    import { createQueueRuntime, explore, type QueueRuntime } from "@sluice/testing";

    interface Env {
      readonly ORDERS: { send(body: { id: number; failures?: number }): Promise<unknown> };
      readonly BOOK: { getByName(name: string): { lines(): Promise<string[]> } };
    }
    const queues: QueueRuntime<Env> = await createQueueRuntime<Env>({
      workers: ["./wrangler.toml"],
      push: { hooks: async (request) => new Response(await request.text()) },
    });
    await queues.env.ORDERS.send({ id: 1, failures: 2 });
    await queues.queue<{ id: number }>("hooks").send({ id: 2 });
    const { acked, errors } = await queues.advance("12h");
    const lines = await queues.env.BOOK.getByName("book").lines();
    const [story] = await queues.stories<{ id: number }>();
    const { histories } = await explore<Env>({
      runtime: queues,
      act: (_, random) => queues.env.ORDERS.send({ id: random.integer(1, 3) }),
      holds: (_, stories) => stories.every(({ state }) => state === "acked"),
      histories: 5,
      timeoutMs: Infinity,
    });
    await queues[Symbol.asyncDispose]();
    console.log(JSON.stringify({ acked, errors, lines, id: story?.body.id, histories }));
  `;
  writeFileSync(join(project, "use.ts"), code);
  const options = [
    "--strict",
    "--noEmit",
    "--module",
    "nodenext",
    "--target",
    "es2024",
    "--lib",
    "es2024,esnext.disposable",
  ];
  execFileSync(process.execPath, [TSC, "--ignoreConfig", ...options, "--types", "node", "use.ts"], {
    cwd: project,
    stdio: ["ignore", "inherit", "inherit"],
  });
  const { stdout, stderr } = spawnSync(process.execPath, ["use.ts"], { cwd: project, encoding: "utf8" });
  expect(stderr).not.toContain("nodejs_compat");
  expect(JSON.parse(stdout)).toEqual({
    acked: 2,
    errors: [],
    id: 1,
    histories: 5,
    lines: ["orders 1 failed", "orders 1 failed", "orders 1"],
  });
});
