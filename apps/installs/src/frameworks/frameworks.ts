import { join } from "node:path";

const FIXTURES = join(import.meta.dirname, "../../test/fixtures");
/** Folder of the Worker that handles the projects' messages. */
export const POST = join(FIXTURES, "post");
/** Folder of projects that the tests of `cli` use too. */
const SUITE = join(import.meta.dirname, "../../../../packages/cli/test/fixtures");

/** A framework, with a project of it. */
export interface Framework {
  /** Packages to install in their latest version. */
  readonly packages: readonly string[];
  /** Number of first packages whose version is in the table. */
  readonly named: number;
  /** Absolute path of its files. */
  readonly project: string;
  /** Command of the framework, in `node_modules`. */
  readonly tool: string;
  /** Its dev servers by name, each with further arguments for `build` and `dev`. */
  readonly servers: Readonly<Record<string, readonly string[]>>;
  /** File with the word "waiting", which the page shows. */
  readonly source: string;
  /** File whose change restarts the server. */
  readonly config: string;
  /** Sends a message from other places than the page, by name. */
  readonly ways: Readonly<Record<string, (origin: string, text: string) => Promise<Response>>>;
}

/** Frameworks, each with a page that sends the text after `?send=` and shows how many messages wait. */
export const FRAMEWORKS = {
  next: {
    packages: ["next", "@opennextjs/cloudflare", "react", "react-dom"],
    named: 2,
    project: join(FIXTURES, "next"),
    tool: "next/dist/bin/next",
    servers: { "Next.js on Turbopack": [], "Next.js on webpack": ["--webpack"] },
    source: "app/page.jsx",
    config: "next.config.mjs",
    ways: {
      "route-handler": (origin, text) => fetch(`${origin}/api/orders`, { method: "POST", body: text }),
      "server-action": callServerAction,
      "server-side-props": (origin, text) => fetch(`${origin}/classic?send=${text}`),
    },
  },
  nuxt: {
    packages: ["nuxt"],
    named: 1,
    project: join(FIXTURES, "nuxt"),
    tool: "nuxt/bin/nuxt.mjs",
    servers: { Nuxt: [] },
    source: "server/api/orders.js",
    config: "nuxt.config.ts",
    ways: { handler: (origin, text) => fetch(`${origin}/api/orders?send=${text}`) },
  },
  sveltekit: {
    packages: ["@sveltejs/kit", "@sveltejs/vite-plugin-svelte", "svelte", "vite"],
    named: 1,
    project: join(SUITE, "sveltekit"),
    tool: "vite/bin/vite.js",
    servers: { SvelteKit: [] },
    source: "src/routes/+page.svelte",
    config: "vite.config.js",
    ways: {},
  },
} satisfies Record<string, Framework>;

export type FrameworkName = keyof typeof FRAMEWORKS;

/** Submits the form of the page, as a browser without JavaScript does. */
async function callServerAction(origin: string, text: string): Promise<Response> {
  const page = await (await fetch(origin)).text();
  const form = new FormData();
  form.set(/\$ACTION_ID_[0-9a-f]+/.exec(page)?.[0] ?? "none", "");
  form.set("order", text);
  return fetch(origin, { method: "POST", body: form, headers: { origin } });
}
