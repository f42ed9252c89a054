import { appendFileSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { type Lab, openLab } from "./lab.ts";

/** Texts of `cloudflare.config.ts` with the meaning of a fixture's Wrangler configurations, by the latter's paths. */
const TEXTS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  shop: {
    "front/wrangler.jsonc": `
import * as entrypoint from "./src/index.ts" with { type: "cf-worker" };

export default {
  worker: {
    name: "front",
    entrypoint,
    compatibilityDate: "2026-11-01",
    assets: { notFoundHandling: "single-page-application" },
    env: {
      MAILS: { type: "queue", name: "mails" },
      NOBODYS: { type: "queue", name: "nobodys" },
      SELF: { type: "worker", worker: "front", exportName: "Sender" },
      OBJECTS: { type: "worker", worker: "objects" },
      RECEIVED: { type: "worker", worker: "mailer", exportName: "Received" },
    },
  },
};
`,
    "objects/wrangler.toml": `
export default {
  worker: {
    name: "objects",
    entrypoint: "src/index.ts",
    compatibilityDate: "2024-09-01",
    exports: { Counter: { type: "durable-object", storage: "sqlite" } },
    env: {
      COUNTER: { type: "durable-object", worker: "objects", exportName: "Counter" },
      MAILS: { type: "queue", name: "mails" },
    },
    triggers: [],
  },
};
`,
    "mailer/wrangler.toml": `
export default () => ({
  worker: {
    name: "mailer",
    entrypoint: "src/index.ts",
    compatibilityDate: "2026-11-01",
    exports: { Inbox: { type: "durable-object", storage: "sqlite" } },
    env: { INBOX: { type: "durable-object", worker: "mailer", exportName: "Inbox" } },
    triggers: [{ type: "queue", name: "mails", maxBatchTimeout: 0 }],
  },
});
`,
  },
  staged: {
    "sender/wrangler.toml": `
export default ({ mode }: { mode?: string }) => {
  const suffix = mode ? "-" + mode : "";
  return {
    worker: {
      name: "sender" + suffix,
      entrypoint: "index.js",
      compatibilityDate: "2026-11-01",
      env: {
        JOBS: { type: "queue", name: "jobs" + suffix },
      },
      triggers: [],
    },
  };
};
`,
    "receiver/wrangler.toml": `
export default async ({ mode }: { mode?: string }) => {
  const suffix = mode ? "-" + mode : "";
  return {
    worker: {
      name: "receiver" + suffix,
      entrypoint: "index.js",
      compatibilityDate: "2026-11-01",
      triggers: [{ type: "queue", name: "jobs" + suffix, maxBatchTimeout: 0 }],
    },
  };
};
`,
  },
};
const TOOLING = 'export default { assetsDirectory: "./public" };\n';

/** A kind of configuration that the Workers of a fixture have. */
export interface Configurations {
  readonly kind: "wrangler.toml" | "cloudflare.config.ts";
  /** Copies a fixture. */
  open(fixture: "shop" | "staged"): Lab;
  /** Lets a Worker send to another queue. */
  addProducer(lab: Lab, worker: string, binding: string, queue: string): void;
  /** Lets a Worker consume another queue. */
  addConsumer(lab: Lab, worker: string, queue: string): void;
  /** Lets a Worker of `staged` require a secret in an environment. */
  requireSecret(lab: Lab, worker: string, env: string, secret: string): void;
}

export const CONFIGURATIONS: readonly Configurations[] = [
  {
    kind: "wrangler.toml",
    open: openLab,
    addProducer: (lab, worker, binding, queue) =>
      appendFileSync(
        join(lab.folder, worker, "wrangler.toml"),
        `\n[[queues.producers]]\nbinding = "${binding}"\nqueue = "${queue}"\n`,
      ),
    addConsumer: (lab, worker, queue) =>
      appendFileSync(
        join(lab.folder, worker, "wrangler.toml"),
        `\n[[queues.consumers]]\nqueue = "${queue}"\n`,
      ),
    requireSecret: (lab, worker, env, secret) =>
      appendFileSync(
        join(lab.folder, worker, "wrangler.toml"),
        `\n[env.${env}.secrets]\nrequired = ["${secret}"]\n`,
      ),
  },
  {
    kind: "cloudflare.config.ts",
    open: openConverted,
    addProducer: (lab, worker, binding, queue) =>
      insert(lab, worker, "env: {", `${binding}: { type: "queue", name: "${queue}" },`),
    addConsumer: (lab, worker, queue) =>
      insert(lab, worker, "triggers: [", `{ type: "queue", name: "${queue}" },`),
    requireSecret: (lab, worker, env, secret) =>
      insert(lab, worker, "env: {", `...(mode === "${env}" ? { ${secret}: { type: "secret" } } : {}),`),
  },
];

/** Copies a fixture, with a `cloudflare.config.ts` in the place of each Wrangler configuration. */
export function openConverted(fixture: "shop" | "staged"): Lab {
  const lab = openLab(fixture);
  writeFileSync(join(lab.folder, "..", "package.json"), '{ "type": "module" }');
  for (const [name, text] of Object.entries(TEXTS[fixture] ?? {})) {
    const folder = dirname(join(lab.folder, name));
    rmSync(join(lab.folder, name));
    writeFileSync(join(folder, "cloudflare.config.ts"), text);
    if (text.includes("assets:")) writeFileSync(join(folder, "wrangler.config.ts"), TOOLING);
  }
  return lab;
}

function insert(lab: Lab, worker: string, after: string, text: string): void {
  const file = join(lab.folder, worker, "cloudflare.config.ts");
  writeFileSync(file, readFileSync(file, "utf8").replace(after, `${after} ${text}`));
}
