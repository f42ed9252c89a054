import { execFileSync } from "node:child_process";
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { packed } from "sluice/test/pack";
import { afterAll, beforeAll, expect, it } from "vitest";
import { WRANGLER_VERSION_MIN } from "../src/runtime/prepare.ts";

const PACKAGE = fileURLToPath(new URL("..", import.meta.url));
const TSC = fileURLToPath(new URL("../../../node_modules/typescript/bin/tsc", import.meta.url));

/** Projects by the Wrangler that they have: one of those that this package is tested with. */
const projects = { wrangler: "", "wrangler-oldest": "" };
type Wrangler = keyof typeof projects;

/**
 * Installs the packed package as npm would, without asking a registry: the archive unpacked, and beside it the
 * dependencies that its manifest declares and no others.
 */
function install(folder: string, wrangler: Wrangler): void {
  const archive = packed(PACKAGE, folder);
  const modules = join(folder, "node_modules");
  const target = join(modules, "@sluice/testing");
  mkdirSync(target, { recursive: true });
  execFileSync("tar", ["-xzf", archive, "-C", target, "--strip-components=1"]);
  const manifest = JSON.parse(readFileSync(join(target, "package.json"), "utf8"));
  // Types of Node.js are the project's own.
  const { dependencies, peerDependencies } = manifest;
  for (const name of [...Object.keys({ ...dependencies, ...peerDependencies }), "@types/node"]) {
    mkdirSync(dirname(join(modules, name)), { recursive: true });
    const installed = name === "wrangler" ? wrangler : name;
    symlinkSync(realpathSync(join(PACKAGE, "node_modules", installed)), join(modules, name));
  }
}

beforeAll(() => {
  for (const wrangler of Object.keys(projects) as Wrangler[]) {
    const project = mkdtempSync(join(realpathSync(tmpdir()), "sluice-testing-project-"));
    projects[wrangler] = project;
    writeFileSync(join(project, "package.json"), '{ "private": true, "type": "module" }');
    cpSync(fileURLToPath(new URL("fixtures/orders", import.meta.url)), join(project, "orders"), {
      recursive: true,
    });
    install(project, wrangler);
  }
});
afterAll(() => {
  for (const project of Object.values(projects)) rmSync(project, { recursive: true, force: true });
});

it("uses the project's own Wrangler, of any version from the oldest that it is tested with", () => {
  const { peerDependencies, devDependencies } = JSON.parse(
    readFileSync(join(PACKAGE, "package.json"), "utf8"),
  );
  expect(peerDependencies).toEqual({ wrangler: `^${WRANGLER_VERSION_MIN}` });
  expect(devDependencies["wrangler-oldest"]).toBe(`npm:wrangler@${WRANGLER_VERSION_MIN}`);
});

it.each(Object.keys(projects) as Wrangler[])("the packed package tests a project with its %s", (wrangler) => {
  const project = projects[wrangler];
  const code = `
    import { createQueueRuntime, explore, type QueueRuntime } from "@sluice/testing";

    interface Env {
      readonly ORDERS: { send(body: { id: number; failures?: number }): Promise<unknown> };
      readonly BOOK: { getByName(name: string): { lines(): Promise<string[]> } };
    }
    const queues: QueueRuntime<Env> = await createQueueRuntime<Env>({
      workers: ["./orders/wrangler.toml"],
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
  const printed = execFileSync(process.execPath, ["use.ts"], { cwd: project, encoding: "utf8" });
  expect(JSON.parse(printed)).toEqual({
    ...{ acked: 2, errors: [], id: 1, histories: 5 },
    lines: ["orders 1 failed", "orders 1 failed", "orders 1"],
  });
});
