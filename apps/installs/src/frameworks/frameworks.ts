/** How a project of a framework is got, run, and made to send. */
export interface Framework {
  /** Packages that are installed as the registry has them now; those that are named in the table come first. */
  readonly packages: readonly string[];
  readonly named: number;
  /** Folder in `test/fixtures`. */
  readonly project: string;
  /** The framework's command, in `node_modules`. */
  readonly tool: string;
  /** Its dev servers, each with the words of the command line that it has besides `build` and `dev`. */
  readonly servers: Readonly<Record<string, readonly string[]>>;
  /** File with the word "waiting", which the page shows. */
  readonly source: string;
  /** File that makes the server start anew when it is changed. */
  readonly config: string;
  /** Sends from other places than the page. */
  readonly ways: Readonly<Record<string, (origin: string, text: string) => Promise<Response>>>;
}

/** Each has a page that sends what stands behind `?send=` and shows how many messages wait. */
export const FRAMEWORKS = {
  next: {
    packages: ["next", "@opennextjs/cloudflare", "react", "react-dom"],
    named: 2,
    project: "next",
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
    project: "nuxt",
    tool: "nuxt/bin/nuxt.mjs",
    servers: { Nuxt: [] },
    source: "server/api/orders.js",
    config: "nuxt.config.ts",
    ways: { handler: (origin, text) => fetch(`${origin}/api/orders?send=${text}`) },
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
