import type { Unstable_Config } from "wrangler";
import type { GeneratedWorker } from "../generate/plan.ts";

/** Durable Object classes that a Worker's migrations create, and those it binds without; whether SQLite backs each. */
export async function durableObjectClasses(worker: GeneratedWorker): Promise<Map<string, boolean>> {
  const { unstable_getDurableObjectClassNameToUseSQLiteMap } = await import("wrangler");
  const config = generatedConfig(worker);
  const classes = new Map<string, boolean>();
  for (const { class_name, script_name } of config.durable_objects?.bindings ?? []) {
    if (script_name === undefined && class_name !== undefined) classes.set(class_name, false);
  }
  const migrated = unstable_getDurableObjectClassNameToUseSQLiteMap(config.migrations ?? []);
  for (const [name, usesSqlite] of migrated) classes.set(name, usesSqlite);
  return classes;
}

/** What was generated, as Wrangler reads it. */
export function generatedConfig({ files }: GeneratedWorker): Partial<Unstable_Config> {
  return JSON.parse(files["wrangler.json"] ?? "{}") as Partial<Unstable_Config>;
}
