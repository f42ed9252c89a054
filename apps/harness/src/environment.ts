import path from "node:path";

/** Makes the environment of a command in a folder: its Wrangler finds only Workers of that folder, and no telemetry. */
export function environmentIn(folder: string): NodeJS.ProcessEnv {
  // Without Vitest's variables.
  const { NODE_ENV: _, VITEST: __, CLOUDFLARE_ENV: ___, ...rest } = process.env;
  return {
    ...rest,
    CI: "1",
    NO_COLOR: "1",
    CLOUDFLARE_CF_FETCH_ENABLED: "false",
    WRANGLER_REGISTRY_PATH: path.join(folder, "registry"),
    WRANGLER_SEND_METRICS: "false",
    // Wrangler's default is on, which makes every call about ten times slower.
    X_LOCAL_OBSERVABILITY: "false",
  };
}
