import module, { createRequire, enableCompileCache, flushCompileCache } from "node:module";
import { CliError } from "../errors.ts";
import { captured } from "./captured.ts";
import {
  type Call,
  type CapturedCommand,
  type LateError,
  type Methods,
  type Reply,
  TERMINAL_FD,
} from "./child-contract.ts";
import { endEsbuildFirst } from "./end-esbuild.ts";
import { surviveLateErrors } from "./late-errors.ts";
import { exitCodeOf, loadWrangler, takeWrangler, wranglerInternals } from "./load-wrangler.ts";
import { secretsFile } from "./secrets-file.ts";
import { ANSWERS } from "./wrangler-config.ts";

/*
 * A process that loads Wrangler, reads configurations by it and runs its commands, one after the other. To load
 * Wrangler takes a second and 200 MB, a command of a deployment a tenth of a second.
 */

/** When what was compiled until then is written to the cache, in ms: who is killed outright writes nothing. */
const FLUSH_AFTER_MS = 10_000;

enableCompileCache();
// Its own streams may be read by nobody, or belong to a command.
surviveLateErrors((late) => process.send?.({ late } satisfies LateError));
endEsbuildFirst((end) => process.on("exit", end));
const [, , file = ""] = process.argv;
const methods: Methods = { ...ANSWERS, readCloudflareConfig, capture, show, inside };

// Wrangler closes the channel to its parent at the end of a command.
process.disconnect = () => {};

process.on("message", async ({ id, method, args }: Call) => {
  const reply: Omit<Reply, "id"> = await Reflect.apply(methods[method], methods, args).then(
    (result: unknown) => ({ result }),
    (error: Error) => ({
      error: { message: error.message, stack: error.stack, isTheirs: error instanceof CliError },
    }),
  );
  process.send?.({ id, ...reply } satisfies Reply);
});

try {
  takeWrangler(file);
  loadWrangler();
} catch {
  // The first call fails by it too.
}

async function readCloudflareConfig(config: string, mode: string) {
  const { readCloudflareConfigFile } = await import("./cloudflare-config.ts");
  return readCloudflareConfigFile(config, mode);
}

async function capture({ args, env, secrets, folder, asks }: CapturedCommand) {
  Object.assign(process.env, env);
  const secret = secrets === null ? null : secretsFile(folder, secrets);
  const all = secret === null ? args : [...args, "--secrets-file", secret.path];
  const { main } = wranglerInternals();
  if (main === undefined) return runAsProgram(all);
  const { streams, end } = captured(asks ? TERMINAL_FD : null);
  process.on("exit", countAsFailure);
  try {
    return { code: await run(main, all), ...streams };
  } finally {
    process.off("exit", countAsFailure);
    end();
    secret?.remove();
  }
}

/** A command that ends its process has not come to its end. */
function countAsFailure(): void {
  process.exitCode ||= 1;
}

async function inside(url: string, name: string, argument: unknown): Promise<unknown> {
  const its = await import(url);
  return its[name](argument);
}

async function show({ args, env }: Pick<CapturedCommand, "args" | "env">): Promise<never> {
  Object.assign(process.env, env);
  setTimeout(flushCompileCache, FLUSH_AFTER_MS).unref();
  const { main } = wranglerInternals();
  if (main === undefined) return runAsProgram(args);
  process.exit(await run(main, args));
}

/** Runs a command line to its end. */
function run(main: (args: readonly string[]) => Promise<void>, args: readonly string[]): Promise<number> {
  process.argv = [process.execPath, file, ...args];
  process.exitCode = 0;
  return main(args).then(() => Number(process.exitCode), exitCodeOf);
}

/**
 * Loads a Wrangler whose `main` cannot be reached from outside once more, as the program of this process: both end
 * together. Its questions cannot be reached either: none is asked.
 */
function runAsProgram(args: readonly string[]): Promise<never> {
  process.argv = [process.execPath, file, ...args];
  process.channel?.unref();
  delete createRequire(file).cache[file];
  const { _load: load } = module as unknown as { _load(file: string, parent: null, isMain: true): void };
  load(file, null, true);
  return new Promise(() => {});
}
