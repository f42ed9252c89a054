import * as z from "zod";
import type { ConvertedConfig } from "./cloudflare-words.ts";

/**
 * Names and queues of `cloudflare.config.ts` files, by their absolute paths, as the process that runs their Workers has
 * read them. Other processes use these, since reading such a file executes it.
 */
export type ReadModules = Readonly<Record<string, ConvertedConfig>>;

/** Schema of `ReadModules`. The queues themselves are checked where they are read. */
const READ_MODULES = z.record(
  z.string(),
  z.object({
    root: z.object({ name: z.string().optional(), queues: z.record(z.string(), z.unknown()).optional() }),
    consumerTriggers: z.array(z.int().nonnegative()),
  }),
);

/** Whether a value that another process has written is a `ReadModules`. */
export function areReadModules(value: unknown): value is ReadModules {
  return READ_MODULES.safeParse(value).success;
}

/** Reduces a configuration to its name and queues: variables, which may be secret, stay in their process. */
export function queuesOnly({ root: { name, queues }, consumerTriggers }: ConvertedConfig): ConvertedConfig {
  const root = { ...(name === undefined ? {} : { name }), ...(queues === undefined ? {} : { queues }) };
  return { root, consumerTriggers };
}
