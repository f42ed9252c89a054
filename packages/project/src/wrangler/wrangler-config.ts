import { readFileSync } from "node:fs";
import { format } from "node:util";
import type { Unstable_Config } from "wrangler";
import { CliError } from "../errors.ts";
import type { CloudflareReading } from "./cloudflare-config.ts";
import { type Diagnostics, loadWrangler, requireOfWrangler, wranglerInternals } from "./load-wrangler.ts";
import { withFileItself, withReadableFile } from "./pull-consumers.ts";
import { readInTime } from "./reading-limit.ts";

/** Wrangler's reading of a configuration and what it had to say about it. */
export interface WranglerReading {
  readonly config: Unstable_Config;
  /** As Wrangler printed it, colours and all; empty when it had nothing to say. */
  readonly warnings: string;
  /** Warnings about a file with a `[sluice]` table, a text each, without a place: Wrangler prints none of them. */
  readonly beside?: readonly string[];
}

export interface ReadOptions {
  /** As in `wrangler --env`; the empty string is the top level whatever `CLOUDFLARE_ENV` says. */
  readonly env: string;
  /** Keeps Wrangler from warning, and from asking the registry for a newer version that might know the unknown key. */
  readonly quiet: boolean;
}

/** Questions about a project that Wrangler answers. */
export interface Answers {
  /**
   * Reads a configuration through Wrangler itself, so that environments, defaults and paths are exactly its own.
   *
   * Consumers of the type `http_pull`, which this Wrangler refuses and older ones took, are read as Workers' ones: none
   * of the queues in the answer is ever used.
   *
   * @param file absolute: Wrangler keeps some paths relative to it.
   * @throws CliError with everything that Wrangler finds wrong.
   */
  readConfig(file: string, options: ReadOptions): Promise<WranglerReading>;
  /** Reads a `cloudflare.config.ts`, as `readCloudflareConfigFile`. */
  readCloudflareConfig(file: string, mode: string): Promise<CloudflareReading>;
  /** Reads a Worker of Build Output, as `readBuildOutputFile`. */
  readBuildOutput(file: string): Promise<CloudflareReading>;
  /** Writes the types of a `cloudflare.config.ts` in the current folder, as `writeCloudflareTypes`. */
  writeCloudflareTypes(file: string, mode: string): Promise<void>;
  /** Reads an empty configuration, for its defaults: a name without a known extension counts as one. */
  defaults(): Promise<Unstable_Config>;
  /** Reads the variables of a Worker on this machine, `unstable_getVarsForDev`. */
  variablesForDev(...args: Parameters<VarsForDev>): Promise<ReturnType<VarsForDev>>;
  /**
   * The names that a module exports, `export *` aside, by the esbuild options by which Wrangler tells the formats of
   * Workers apart; `null` when it is not there or does not compile.
   */
  exportsOf(file: string): Promise<string[] | null>;
}

type VarsForDev = typeof import("wrangler").unstable_getVarsForDev;

/** Answers of a Wrangler that is loaded in this process. */
export const ANSWERS: Answers = {
  async readConfig(file, options) {
    const { unstable_readConfig } = loadWrangler();
    const { env, quiet } = options;
    const { result, printed } = capturing("warn", () => {
      try {
        return withReadableFile(file, (config) => {
          const raw = rawWithOwnTable(config);
          const read = unstable_readConfig({ config, env }, { hideWarnings: quiet || raw !== null });
          return { config: read, beside: raw === null || quiet ? [] : warningsBeside(raw, config, env) };
        });
      } catch (error) {
        throw new CliError(error instanceof Error ? error.message : String(error));
      }
    });
    return { ...result, warnings: withFileItself(printed, file) };
  },
  async readCloudflareConfig(file, mode) {
    const { readCloudflareConfigFile } = await import("./cloudflare-config.ts");
    using _ = failingAtExit(file);
    return await readInTime(file, readCloudflareConfigFile(file, mode));
  },
  async readBuildOutput(file) {
    const { readBuildOutputFile } = await import("./cloudflare-config.ts");
    return readBuildOutputFile(file);
  },
  async writeCloudflareTypes(file, mode) {
    const its = await import("./cloudflare-config.ts");
    await its.writeCloudflareTypes(file, mode);
  },
  async defaults() {
    return loadWrangler().unstable_readConfig({ config: "", env: "" }, { hideWarnings: true });
  },
  async variablesForDev(...args) {
    return loadWrangler().unstable_getVarsForDev(...args);
  },
  async exportsOf(file) {
    const { build } = requireOfWrangler<typeof import("esbuild")>("esbuild");
    try {
      const { metafile } = await build({
        entryPoints: [file],
        bundle: false,
        write: false,
        metafile: true,
        target: "es2024",
        loader: { ".js": "jsx", ".mjs": "jsx", ".cjs": "jsx" },
        logLevel: "silent",
      });
      return Object.values(metafile.outputs).flatMap((output) => output.exports);
    } catch {
      return null;
    }
  },
};

/** Parses a configuration that has a `[sluice]` table; `null` for one that has none. */
function rawWithOwnTable(file: string): object | null {
  if (!readFileSync(file, "utf8").includes("sluice")) return null;
  const { rawConfig } = loadWrangler().experimental_readRawConfig({ config: file });
  return "sluice" in rawConfig ? rawConfig : null;
}

/**
 * Warnings about everything but the `[sluice]` table, which Wrangler does not know; none from a Wrangler that keeps what
 * it takes to find them to itself.
 */
function warningsBeside(raw: object, file: string, env: string): string[] {
  const { normalizeAndValidateConfig } = wranglerInternals();
  if (normalizeAndValidateConfig === undefined) return [];
  const { sluice: _, ...rest } = raw as { readonly sluice: unknown };
  const { diagnostics } = normalizeAndValidateConfig(rest, file, file, { env });
  return warningsIn(diagnostics);
}

function warningsIn({ warnings, children }: Diagnostics): string[] {
  return [...warnings, ...children.flatMap(warningsIn)];
}

/** Has this process say which file ends it, and fail, as long as it runs that file. */
function failingAtExit(file: string): Disposable {
  const onExit = (code: number) => {
    console.error(endedBy(file, code));
    process.exitCode = 1;
  };
  process.on("exit", onExit);
  return { [Symbol.dispose]: () => process.off("exit", onExit) };
}

/** Words that a configuration ends the process that reads it. */
export function endedBy(file: string, code: number): string {
  return `${file}: it has ended the process that reads it, with exit code ${code}.`;
}

let answers = ANSWERS;

/** Asks Wrangler in another process from now on, instead of loading it in this one. */
export function askIn(other: Answers): void {
  answers = other;
}

export const readWranglerConfig: Answers["readConfig"] = (...args) => answers.readConfig(...args);
export const readCloudflareConfigFile: Answers["readCloudflareConfig"] = (...args) =>
  answers.readCloudflareConfig(...args);
export const readBuildOutputFile: Answers["readBuildOutput"] = (...args) => answers.readBuildOutput(...args);
export const writeCloudflareTypes: Answers["writeCloudflareTypes"] = (...args) =>
  answers.writeCloudflareTypes(...args);
export const wranglerDefaults: Answers["defaults"] = () => answers.defaults();
export const variablesForDev: Answers["variablesForDev"] = (...args) => answers.variablesForDev(...args);
export const exportsOf: Answers["exportsOf"] = (file) => answers.exportsOf(file);

/** Wrangler prints what it has to say while it reads, and hands it out in no other way. */
export function capturing<T>(method: "log" | "warn", run: () => T): { result: T; printed: string } {
  const original = console[method];
  let printed = "";
  console[method] = (...args: unknown[]) => {
    printed += `${format(...args)}\n`;
  };
  try {
    return { result: run(), printed };
  } finally {
    console[method] = original;
  }
}
