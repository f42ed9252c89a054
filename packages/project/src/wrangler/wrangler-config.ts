import { readFileSync } from "node:fs";
import { format } from "node:util";
import type { Unstable_Config } from "wrangler";
import { CliError } from "../errors.ts";
import type { CloudflareReading } from "./cloudflare-config.ts";
import { type Diagnostics, loadWrangler, requireOfWrangler, wranglerInternals } from "./load-wrangler.ts";
import { withFileItself, withReadableFile } from "./pull-consumers.ts";
import { readInTime } from "./reading-limit.ts";

/** Wrangler's reading of a configuration, with its warnings. */
export interface WranglerReading {
  readonly config: Unstable_Config;
  /** Warnings as Wrangler has printed them, with colours; empty for none. */
  readonly warnings: string;
  /** Warnings about a file with a `[sluice]` table, without places. Wrangler's own printing is off for such a file. */
  readonly beside?: readonly string[];
}

export interface ReadOptions {
  /** As in `wrangler --env`. The empty string is the top level, regardless of `CLOUDFLARE_ENV`. */
  readonly env: string;
  /** Whether to hide warnings. For unknown keys, a warning also makes Wrangler look for a newer version online. */
  readonly quiet: boolean;
}

/** Readings of a project for which Wrangler is needed, in this process or in another one. */
export interface Answers {
  /**
   * Reads a configuration by Wrangler itself, so that environments, defaults and paths are exactly Wrangler's.
   *
   * Consumers of the type `http_pull`, which current Wranglers refuse, are read as those of Workers. The queues in the
   * result are never used.
   *
   * @param file absolute path. Wrangler keeps some paths relative to it.
   * @throws CliError with all mistakes that Wrangler finds.
   */
  readConfig(file: string, options: ReadOptions): Promise<WranglerReading>;
  /** Reads a `cloudflare.config.ts`, as `readCloudflareConfigFile`. */
  readCloudflareConfig(file: string, mode: string): Promise<CloudflareReading>;
  /** Reads a Worker of Build Output, as `readBuildOutputFile`. */
  readBuildOutput(file: string): Promise<CloudflareReading>;
  /** Writes the types of a `cloudflare.config.ts` in the current folder, as `writeCloudflareTypes`. */
  writeCloudflareTypes(file: string, mode: string): Promise<void>;
  /** Reads an empty configuration, for Wrangler's defaults. */
  defaults(): Promise<Unstable_Config>;
  /** Reads the variables of a Worker on this machine, `unstable_getVarsForDev`. */
  variablesForDev(...args: Parameters<VarsForDev>): Promise<ReturnType<VarsForDev>>;
  /**
   * Lists the names that a module exports, without those of `export *`. Wrangler tells the formats of Workers apart by
   * the same esbuild options. Returns `null` for a file that does not exist or does not compile.
   */
  exportsOf(file: string): Promise<string[] | null>;
}

type VarsForDev = typeof import("wrangler").unstable_getVarsForDev;

/** Implementation by a Wrangler that is loaded in this process. */
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
    const imported = await import("./cloudflare-config.ts");
    await imported.writeCloudflareTypes(file, mode);
  },
  async defaults() {
    // Wrangler reads a file name without a known extension as an empty configuration.
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
 * Collects Wrangler's warnings about a configuration without its `[sluice]` table, which Wrangler does not know.
 * Returns none for a Wrangler whose internals cannot be reached.
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

/** If this process ends until the result is disposed of, prints which file has ended it, and sets exit code 1. */
function failingAtExit(file: string): Disposable {
  const onExit = (code: number) => {
    console.error(endedBy(file, code));
    process.exitCode = 1;
  };
  process.on("exit", onExit);
  return { [Symbol.dispose]: () => process.off("exit", onExit) };
}

/** Makes the error text for a configuration that ends the process that reads it. */
export function endedBy(file: string, code: number): string {
  return `${file}: it has ended the process that reads it, with exit code ${code}.`;
}

let answers = ANSWERS;

/** Makes the functions below call Wrangler in another process from now on, instead of loading it in this one. */
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

/** Captures what a function prints by a method of `console`. Wrangler returns its warnings in no other way. */
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
