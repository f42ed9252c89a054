import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { HAS_OTHERS } from "sluice/test/others";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { type DevServer, ViteProject, type ViteProjectOptions } from "./vite-project.ts";

/** Limit for a busy machine, in ms: a framework transforms its own code first. */
const PATIENCE = { timeout: 100_000, interval: 200 };

interface Framework {
  readonly name: string;
  readonly project: ViteProjectOptions;
  /** File with the version that the handler records. */
  readonly version: string;
  readonly built: string;
}

const REACT_ROUTER: Framework = {
  name: "React Router",
  project: {
    fixture: "react-router",
    packages: ["@react-router/dev", "isbot", "react", "react-dom", "react-router"],
    tool: "@react-router/dev/bin.cjs",
  },
  version: "workers/version.js",
  built: "build/server",
};
const TANSTACK_START: Framework = {
  name: "TanStack Start",
  project: {
    fixture: "tanstack-start",
    packages: [
      "@tanstack/react-router",
      "@tanstack/react-start",
      "@vitejs/plugin-react",
      "react",
      "react-dom",
    ],
  },
  version: "src/version.ts",
  built: "dist/server",
};

const forEach = describe.skipIf(!HAS_OTHERS).each([REACT_ROUTER, TANSTACK_START]);

forEach("$name", ({ project: options, version, built }) => {
  let project: ViteProject;
  let server: DevServer;

  beforeAll(async () => {
    project = new ViteProject(options);
    server = await project.dev();
  });
  afterAll(async () => {
    await server?.stop();
    project?.remove();
  });

  const see = async (path: string) => {
    const response = await fetch(`${server.url}${path}`, { headers: { accept: "text/html" } });
    const text = await response.text();
    if (!response.ok) throw new Error(`${path}: ${response.status} ${text}\n${server.printed()}`);
    return text.replaceAll("<!-- -->", "");
  };
  const seeHandled = (line: string) =>
    vi.waitFor(async () => expect(await see("/")).toMatch(new RegExp(`handled: [^<]*${line}`)), PATIENCE);

  it("handles messages from the code of a page", async () => {
    await vi.waitFor(() => see("/?send=first"), PATIENCE);
    await seeHandled("one first");
  });

  it("serves the page of the broker", async () => {
    expect(await see("/__sluice/")).toMatch("Sluice");
    const { queues } = JSON.parse(await see("/__sluice/api/queues")) as { queues: { name: string }[] };
    expect(queues.map(({ name }) => name)).toEqual(["orders"]);
  });

  it("uses a changed handler for the next message", async () => {
    writeFileSync(join(project.folder, version), 'export const VERSION = "two";\n');
    await vi.waitFor(async () => {
      await see("/?send=changed");
      expect(await see("/")).toMatch(/handled: [^<]*two changed/);
    }, PATIENCE);
  });

  it("is built without the broker", () => {
    project.build();
    const folder = join(project.folder, built);
    const { queues, services, durable_objects } = JSON.parse(
      readFileSync(join(folder, "wrangler.json"), "utf8"),
    );
    expect(queues.producers).toMatchObject([{ binding: "ORDERS", queue: "orders" }]);
    expect(services).toEqual([]);
    expect(durable_objects.bindings.map(({ name }: { name: string }) => name)).toEqual(["BOOK"]);
    const code = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((name) =>
      name.endsWith(".js"),
    );
    expect(code.length).toBeGreaterThan(0);
    for (const name of code) {
      // The folder's name contains the name of our package.
      const text = readFileSync(join(folder, name), "utf8").replaceAll(project.folder, "");
      expect(text).not.toMatch(/sluice/i);
    }
  });
});
