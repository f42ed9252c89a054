import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { onTestFinished } from "vitest";
import {
  type ConfigDiagnostic,
  ConfigError,
  readWorkerConfig,
  type WorkerQueueConfig,
} from "../src/index.ts";

/** Writes files into a new folder that lives as long as the test, and returns the folder. */
export function project(files: Readonly<Record<string, string | Uint8Array>>): string {
  const folder = mkdtempSync(join(tmpdir(), "sluice-config-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), content);
  }
  return folder;
}

/** Reads the text of a `wrangler.toml`. */
export function readToml(text: string, env?: string): WorkerQueueConfig {
  return readText("wrangler.toml", text, env);
}

/** Reads a value as a `wrangler.json`, for what TOML cannot say. */
export function readJson(value: unknown, env?: string): WorkerQueueConfig {
  return readText("wrangler.json", JSON.stringify(value), env);
}

export function readText(name: string, text: string, env?: string): WorkerQueueConfig {
  return readWorkerConfig(join(project({ [name]: text }), name), env === undefined ? {} : { env });
}

/** Returns the diagnostics of the error that a reader throws. Fails when it throws none. */
export function diagnosticsOf(read: () => unknown): readonly ConfigDiagnostic[] {
  try {
    read();
  } catch (error) {
    if (error instanceof ConfigError) return error.diagnostics;
    throw error;
  }
  throw new Error("the configuration was accepted");
}

/** The texts of the errors among them. */
export function errorsOf(read: () => unknown): string[] {
  return textsOf(diagnosticsOf(read), "error");
}

export function warningsOf(config: WorkerQueueConfig): string[] {
  return textsOf(config.warnings, "warning");
}

function textsOf(diagnostics: readonly ConfigDiagnostic[], severity: ConfigDiagnostic["severity"]): string[] {
  return diagnostics.filter((diagnostic) => diagnostic.severity === severity).map(({ text }) => text);
}
