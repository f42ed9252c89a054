import { appendFileSync, mkdirSync, realpathSync, symlinkSync } from "node:fs";
import { dirname, join } from "node:path";
import getPort from "@sluice/protocol/test/free-port";
import { afterAll, describe, expect, it } from "vitest";
import { install } from "./install.ts";
import { freePorts, type Lab, openLab } from "./lab.ts";
import { HAS_OTHERS, OTHERS } from "./others.ts";
import { Running } from "./running.ts";

interface Framework {
  readonly name: string;
  readonly fixture: string;
  readonly packages: readonly string[];
  /** Command line of the framework, in `node_modules`. */
  readonly tool: string;
  /** File whose change makes the server start anew. */
  readonly source: string;
}

const SVELTEKIT: Framework = {
  name: "SvelteKit",
  fixture: "sveltekit",
  tool: "vite/bin/vite.js",
  packages: ["@sveltejs/kit", "@sveltejs/vite-plugin-svelte", "svelte", "vite"],
  source: "src/hooks.server.js",
};
/** Nitro, the server that Nuxt is built on. */
const NITRO: Framework = {
  name: "Nitro",
  fixture: "nitro",
  tool: "nitropack/dist/cli/index.mjs",
  packages: ["nitropack"],
  source: "server/plugins/queues.js",
};

describe.skipIf(!HAS_OTHERS).each([SVELTEKIT, NITRO])(
  "the dev server of $name",
  ({ fixture, packages, tool, source }) => {
    let lab: Lab;
    const running: Running[] = [];
    const start = (args: readonly string[]) => {
      const { NODE_ENV: _, VITEST: __, ...env } = lab.env;
      const process = new Running(args, lab.folder, { ...env, CLOUDFLARE_CF_FETCH_ENABLED: "false" });
      running.push(process);
      return process;
    };

    afterAll(async () => {
      await Promise.all(running.map((process) => process.stop()));
      lab?.remove();
    });

    it("sends to the broker, from changed code too, and sluice dev handles it", async () => {
      lab = openLab(fixture);
      const bin = install(lab.folder);
      for (const name of packages) {
        const target = join(lab.folder, "node_modules", name);
        mkdirSync(dirname(target), { recursive: true });
        symlinkSync(realpathSync(join(OTHERS, name)), target);
      }
      const port = await getPort();
      const server = start([join("node_modules", tool), "dev", "--port", `${port}`]);
      await server.printed(/Local:/);
      const see = async (query: string) => {
        const response = await fetch(`http://localhost:${port}/${query}`);
        const text = await response.text();
        if (!response.ok) throw new Error(`${response.status} ${text}\n${server.output}`);
        return text.replaceAll(/<!--.*?-->/g, "");
      };
      await expect.poll(() => see("?send=first").catch(String)).toContain("waiting: 1");

      const { options } = await freePorts();
      const post = start([bin, "dev", "post", "--persist-to", ".wrangler/state", ...options]);
      await post.printed(/got first/);
      await see("?send=second");
      await post.printed(/got second/);

      appendFileSync(join(lab.folder, source), "// changed\n");
      await expect.poll(() => see("?send=third").catch(String)).toContain("waiting:");
      await post.printed(/got third/);
    });
  },
);
