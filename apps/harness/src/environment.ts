import path from "node:path";

/** Environment of a command in a folder: it finds programs there alone, and calls no server on the Internet. */
export function environmentIn(folder: string): NodeJS.ProcessEnv {
  // Vitest's variables are not for the command.
  const { NODE_ENV: _, VITEST: __, CLOUDFLARE_ENV: ___, ...rest } = process.env;
  return {
    ...rest,
    CI: "1",
    NO_COLOR: "1",
    CLOUDFLARE_CF_FETCH_ENABLED: "false",
    WRANGLER_REGISTRY_PATH: path.join(folder, "registry"),
    WRANGLER_SEND_METRICS: "false",
    // On in Wrangler unless said otherwise: it makes every call about ten times slower.
    X_LOCAL_OBSERVABILITY: "false",
  };
}
