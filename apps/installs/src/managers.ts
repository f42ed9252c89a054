/** A package manager. */
export interface Manager {
  /** Name of its package. */
  readonly package: string;
  readonly version: string;
  /** Path of its program in the package: a binary if `isProgram` is set, else a script of Node.js. */
  readonly bin: string;
  readonly isProgram?: true;
  /** Arguments that install packages as development dependencies. */
  readonly add: readonly string[];
  /** Whether packages stay archives, which only processes of the manager can read. */
  readonly isPlugAndPlay?: true;
  /** Files that a project needs for it. */
  readonly files?: Readonly<Record<string, string>>;
}

/** Package managers, each with the tried version. */
export const MANAGERS = {
  npm: { package: "npm", version: "11", bin: "bin/npm-cli.js", add: ["install", "--save-dev"] },
  pnpm: {
    package: "pnpm",
    version: "12.21.0",
    bin: "bin/pnpm.mjs",
    add: ["add", "--save-dev"],
    // Without this setting pnpm fails, because scripts of Wrangler's packages need an approval ("pnpm approve-builds").
    files: { "pnpm-workspace.yaml": "allowBuilds:\n  esbuild: true\n  workerd: true\n" },
  },
  "yarn-1": {
    package: "yarn",
    version: "1",
    bin: "bin/yarn.js",
    add: ["add", "--dev", "--no-progress", "--ignore-engines"],
  },
  "yarn-4": {
    package: "@yarnpkg/cli-dist",
    version: "4",
    bin: "bin/yarn.js",
    add: ["add", "--dev"],
    // Makes the folder a project of its own, not a workspace of one above it.
    files: { "yarn.lock": "", ".yarnrc.yml": "nodeLinker: node-modules\nenableTelemetry: false\n" },
  },
  "yarn-pnp": {
    package: "@yarnpkg/cli-dist",
    version: "4",
    bin: "bin/yarn.js",
    add: ["add", "--dev"],
    isPlugAndPlay: true,
    files: { "yarn.lock": "", ".yarnrc.yml": "enableTelemetry: false\n" },
  },
  bun: { package: "bun", version: "1", bin: "bin/bun.exe", isProgram: true, add: ["add", "--dev"] },
} satisfies Record<string, Manager>;

export type ManagerName = keyof typeof MANAGERS;
