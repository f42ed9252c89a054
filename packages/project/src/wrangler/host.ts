import module, { createRequire, enableCompileCache, flushCompileCache } from "node:module";
import { CliError } from "../errors.ts";
import { captureOutput } from "./captured.ts";
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
 * Program of a process that loads Wrangler, reads configurations by it and runs its commands, one after the other.
 * Loading Wrangler takes a second and 200 MB, a command of a deployment a tenth of a second.
 */

/** Time after which the code compiled so far is written to the cache, in ms: a killed process writes nothing. */
const FLUSH_AFTER_MS = 10_000;

enableCompileCache();
// Reported to the parent: this process's streams may be unread, or belong to a command.
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
      error: { message: error.message, stack: error.stack, isCliError: error instanceof CliError },
    }),
  );
  process.send?.({ id, ...reply } satisfies Reply);
});

try {
  takeWrangler(file);
  loadWrangler();
} catch {
  // The first call fails with the same error.
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
  const { streams, end } = captureOutput(asks ? TERMINAL_FD : null);
  process.on("exit", countAsFailure);
  try {
    return { code: await run(main, all), ...streams };
  } finally {
    process.off("exit", countAsFailure);
    end();
    secret?.remove();
  }
}

/** Makes the exit code a failure: a command that ends its process has not finished. */
function countAsFailure(): void {
  process.exitCode ||= 1;
}

async function inside(url: string, name: string, argument: unknown): Promise<unknown> {
  const imported = await import(url);
  return imported[name](argument);
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
 * Runs a command of a Wrangler whose `main` cannot be called from outside. It loads Wrangler once more, as the main
 * program of this process, which ends with the command. The command asks no questions.
 */
function runAsProgram(args: readonly string[]): Promise<never> {
  process.argv = [process.execPath, file, ...args];
  process.channel?.unref();
  delete createRequire(file).cache[file];
  const { _load: load } = module as unknown as { _load(file: string, parent: null, isMain: true): void };
  load(file, null, true);
  return new Promise(() => {});
}
