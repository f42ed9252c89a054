import { join, relative, sep } from "node:path";
import type { V4WorkerOptions } from "miniflare";
import { plainModule } from "./worker-modules.ts";

/** Entrypoint in each of the user's Workers that `host.js` calls. */
export const CONTROL_ENTRYPOINT = "SluiceTesting";
const [ENTRY_FILE, CLOCK_FILE, CONTROL_FILE] = ["entry", "clock", "control"].map(
  (name) => `sluice-testing-${name}.js`,
) as [string, string, string];

interface ControlOptions {
  /** Whether the module has a default export. */
  readonly hasDefault: boolean;
  /** Start of its `Date`; `null` for the real time. */
  readonly clockStartMs: number | null;
}

/**
 * Adds an entrypoint to a bundled Worker. A `Date` that follows the clock is installed before any of the user's code
 * runs.
 */
export function controlled(
  worker: V4WorkerOptions,
  { hasDefault, clockStartMs }: ControlOptions,
): V4WorkerOptions {
  if (!("modules" in worker) || !Array.isArray(worker.modules)) throw new Error("a Worker is not bundled");
  const { modules, modulesRoot = "" } = worker;
  const [main] = modules;
  if (main === undefined) throw new Error("a Worker has no module");
  const userMain = JSON.stringify(`./${relative(modulesRoot, main.path).split(sep).join("/")}`);
  const control = JSON.stringify(`./${CONTROL_FILE}`);
  const entry = [
    ...(clockStartMs === null ? [] : [`import "./${CLOCK_FILE}";`]),
    `import * as main from ${userMain};`,
    `import { controlOf } from ${control};`,
    `export * from ${userMain};`,
    ...(hasDefault ? ["export default main.default;"] : []),
    `export const ${CONTROL_ENTRYPOINT} = controlOf(${hasDefault ? "main.default" : "undefined"});`,
  ].join("\n");
  const clock = `import { startClock } from ${control};\nstartClock(${clockStartMs});\n`;
  const moduleOf = (file: string, contents: string) =>
    ({ type: "ESModule", path: join(modulesRoot, file), contents }) as const;
  const added = [
    moduleOf(CONTROL_FILE, plainModule("control.js")),
    ...(clockStartMs === null ? [] : [moduleOf(CLOCK_FILE, clock)]),
  ];
  return { ...worker, modules: [moduleOf(ENTRY_FILE, entry), ...added, ...modules] };
}
