import type { DevOptions } from "@sluice/local/dev/options";
import type { Printer } from "@sluice/local/report/printer";
import { LOG_FORMATS } from "@sluice/local/report/server-log";
import type { ServeOptions } from "@sluice/local/serve/serve";
import type { WorkerDaemonOptions } from "@sluice/local/serve/worker-daemon";
import { CliError, EXIT_FAILED, EXIT_USAGE } from "@sluice/project/errors";
import { writeRefusal } from "@sluice/project/folders";
import { Command, CommanderError, InvalidArgumentError, Option } from "commander";
import { addAlerts } from "./commands/alerts/grammar.ts";
import { addBridge } from "./commands/bridge/grammar.ts";
import type { BuildOptions } from "./commands/build.ts";
import { addCompletion } from "./commands/completion/grammar.ts";
import { addCost } from "./commands/cost/grammar.ts";
import { addDeploy } from "./commands/deploy/grammar.ts";
import { addClock, addFaults } from "./commands/development/grammar.ts";
import { addDoctor } from "./commands/doctor/grammar.ts";
import { environmentOption } from "./commands/environment-option.ts";
import { addTail } from "./commands/events/grammar.ts";
import { addInit } from "./commands/init/grammar.ts";
import { addMcp } from "./commands/mcp/grammar.ts";
import { addMessages } from "./commands/messages/grammar.ts";
import { collect, type Execute } from "./commands/on-broker.ts";
import { addQueues } from "./commands/queues/grammar.ts";
import { addReset } from "./commands/reset/grammar.ts";
import { addAudit, addTokens } from "./commands/tokens/grammar.ts";
import { addTransfer } from "./commands/transfer/grammar.ts";
import { processSurroundings, type Surroundings } from "./surroundings.ts";
import { version } from "./version.ts";

/** Hidden command that a shell's completion script calls. The words to complete follow `--`. */
const COMPLETE_COMMAND = "complete";

/**
 * Runs a command line and resolves to the exit code.
 *
 * @param args arguments after `sluice`.
 * @param surroundings input, folder and environment. Default: those of this process.
 */
export async function run(
  args: readonly string[],
  printer: Printer,
  surroundings: Surroundings = processSurroundings(),
): Promise<number> {
  const isCompletion = args[0] === COMPLETE_COMMAND;
  const [own, wranglerArguments] = isCompletion ? [args, []] : splitAtDashes(args);
  let code = 0;
  const execute: Execute = async (command) => {
    code = await command(printer, surroundings);
  };
  const program = defineProgram(execute, wranglerArguments, printer);
  if (isCompletion) {
    const { addSuggestions } = await import("./commands/completion/suggestions.ts");
    await addSuggestions(program, args.slice(2), surroundings);
  } else {
    addCompletion(program, execute);
  }
  pointToHelp(program, "sluice");
  program.hook("preAction", (_, command) => refuseEmptyNames(command));
  try {
    await program.parseAsync(own, { from: "user" });
    return code;
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : EXIT_USAGE;
    fail(printer, describe(error));
    return error instanceof CliError ? error.exitCode : EXIT_FAILED;
  }
}

function defineProgram(execute: Execute, wranglerArguments: readonly string[], printer: Printer): Command {
  const program = new Command("sluice")
    .description("Runs Cloudflare Queues projects on a durable queue of their own, without a changed line.")
    .version(version, "-v, --version")
    .exitOverride()
    .showHelpAfterError("(see sluice --help)")
    .configureOutput({
      writeOut: (text) => printer.print(text.trimEnd()),
      writeErr: (text) => printer.warn(text.trimEnd()),
      outputError: (text) => fail(printer, withFullNames(text.trimEnd(), program)),
    });

  program
    .command("dev")
    .description("run Workers and the broker locally; the first Worker named owns the port")
    .argument("[worker...]", "folders or Wrangler configurations of Workers (default: the current folder)")
    .option("--port <port>", "port of the first Worker (default: its own dev.port, or 8787)", port)
    .option("--ip <address>", "address to listen on (default: localhost)")
    .option(
      "--persist-to <folder>",
      "folder of all local data (default: .wrangler/state of the first Worker)",
    )
    .addOption(environmentOption())
    .option("--inspector-port <port>", "port of the debugger", port)
    .option(
      "--no-observability",
      "trace no Worker for the Local Explorer, which makes calls between them faster",
    )
    .addHelpText("after", "\nArguments after -- are passed on to wrangler dev.")
    .action((targets: string[], options: Omit<DevOptions, "targets" | "wranglerArguments">) =>
      execute(async (to) =>
        (await import("@sluice/local/dev/start")).startDev({ ...options, targets, wranglerArguments }, to),
      ),
    );
  program
    .command("build")
    .description(
      "generate Wrangler configurations that run Workers on the broker, for wrangler dev and deploy",
    )
    .argument("[worker...]", "folders or Wrangler configurations of Workers (default: the current folder)")
    .addOption(environmentOption())
    .option("--broker <name>", 'name of the broker on an account (default: [sluice] broker, or "sluice")')
    .option("--outdir <folder>", "folder for the generated files (default: .sluice)")
    .action((targets: string[], options: Omit<BuildOptions, "targets">) =>
      execute(async (to) => (await import("./commands/build.ts")).build({ ...options, targets }, to)),
    );
  program
    .command("serve")
    .description("run the broker, and the Workers named, without Wrangler: fast, without reloading")
    .argument("[worker...]", "folders or Wrangler configurations of Workers (default: the broker alone)")
    .option("--port <port>", "port to listen on, 0 for a free one (default: 8787)", port)
    .option("--host <address>", "address to listen on (default: 127.0.0.1)")
    .option("--persist-to <folder>", "folder of all data (default: .wrangler/state of the first Worker)")
    .addOption(environmentOption())
    .option("--inspector-port <port>", "port for debuggers and profilers on 127.0.0.1 (default: none)", port)
    .addOption(logFormat())
    .option("--ready-line <text>", "line to print last, once it answers (default: none)")
    .action((targets: string[], options: Omit<ServeOptions, "targets">) =>
      execute(async (to) => (await import("@sluice/local/serve/serve")).serve({ ...options, targets }, to)),
    );
  program
    .command("worker-daemon")
    .description("post the messages of an SQS queue to a web application, as Elastic Beanstalk's sqsd does")
    .requiredOption("--url <url>", "address of the application, such as http://localhost:8080/")
    .option("--queue <name>", "queue to read (default: worker-queue)")
    .option("--option <Name=Value>", "option of aws:elasticbeanstalk:sqsd; repeatable", collect)
    .option("--cron <file>", "cron.yaml with periodic tasks")
    .addOption(
      new Option("--cron-days <rule>", "a day of the month beside one of the week: either, or both").choices([
        "or",
        "and",
      ]),
    )
    .addOption(
      new Option(
        "--cron-catch-up <rule>",
        "missed runs to make up for: the last one (default), all, or none",
      ).choices(["one", "all", "none"]),
    )
    .option("--cron-catch-up-window <seconds>", "how late a run is still made (default: 300)", Number)
    .addOption(
      new Option(
        "--cron-overlap <rule>",
        "whether a run may start before the last one is done (default: allow)",
      ).choices(["allow", "skip"]),
    )
    .option("--trust-task-attributes", "accept periodic tasks in messages of any sender, as AWS does")
    .option("--dead-letter-queue <name>", "queue for messages that failed too often (default: <queue>-dead)")
    .option("--no-dead-letter-queue", "post messages until they expire")
    .option("--port <port>", "port of the SQS endpoint, 0 for a free one (default: 9324)", port)
    .option("--host <address>", "address to listen on (default: 127.0.0.1)")
    .option("--persist-to <folder>", "folder of all data (default: .wrangler/state)")
    .addOption(logFormat())
    .action((options: Omit<WorkerDaemonOptions, "deadLetterQueue"> & { deadLetterQueue: string | boolean }) =>
      execute(async (to) => {
        const { deadLetterQueue, ...others } = options;
        const { workerDaemon } = await import("@sluice/local/serve/worker-daemon");
        return workerDaemon(deadLetterQueue === true ? others : { ...others, deadLetterQueue }, to);
      }),
    );
  addDeploy(program, execute);
  addQueues(program, execute);
  addAlerts(program, execute);
  addMessages(program, execute);
  addTail(program, execute);
  addCost(program, execute);
  addTokens(program, execute);
  addAudit(program, execute);
  addClock(program, execute);
  addFaults(program, execute);
  addTransfer(program, execute);
  addBridge(program, execute);
  addDoctor(program, execute);
  addMcp(program, execute);
  addInit(program, execute);
  addReset(program, execute);
  return program;
}

/** Suggests the full names for an unknown command that is a subcommand: `queues redrive` for `redrive`. */
function withFullNames(text: string, program: Command): string {
  const [, name = ""] = /unknown command '([^']+)'/.exec(text) ?? [];
  const full = program.commands.flatMap((group) =>
    group.commands
      .filter((command) => [command.name(), ...command.aliases()].includes(name))
      .map(() => `${group.name()} ${name}`),
  );
  if (full.length === 0) return text;
  const names = full.length === 1 ? full : [`one of ${full.join(", ")}`];
  return `${text.replace(/\n\(Did you mean .*\?\)$/, "")}\n(Did you mean ${names}?)`;
}

function fail(printer: Printer, text: string): void {
  if (printer.fail === undefined) printer.warn(text);
  else printer.fail(text);
}

/** Makes each command point to its own help after a usage error. */
function pointToHelp(parent: Command, name: string): void {
  for (const command of parent.commands) {
    const full = `${name} ${command.name()}`;
    command.showHelpAfterError(`(see ${full} --help)`);
    pointToHelp(command, full);
  }
}

/** Refuses an empty name, such as an unset variable of a script: in a path, it would stand for all queues. */
function refuseEmptyNames(command: Command): void {
  const at = command.registeredArguments.findIndex(
    (argument, index) => ["queue", "name"].includes(argument.name()) && command.args[index] === "",
  );
  const argument = command.registeredArguments[at];
  if (argument !== undefined) command.error(`error: argument '${argument.name()}' is empty`);
}

/** Splits arguments at `--`, since Commander reports those before it and after it as one list. */
function splitAtDashes(args: readonly string[]): [string[], string[]] {
  const at = args.indexOf("--");
  return at === -1 ? [[...args], []] : [args.slice(0, at), args.slice(at + 1)];
}

function logFormat(): Option {
  return new Option("--log-format <format>", "lines of the log (default: text)").choices(LOG_FORMATS);
}

function port(value: string): number {
  const number = Number(value);
  if (!/^\d+$/.test(value) || number > 65_535)
    throw new InvalidArgumentError("A port is a number from 0 to 65535.");
  return number;
}

/** Error codes of the file system that mean a defect of a command. The user can solve others, such as a full disk. */
const DEFECT_CODES = ["EEXIST", "ELOOP", "ENOENT"];

/** Formats an error: as its message where the user can mend its cause, else with its stack, since it is a defect. */
function describe(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return canUserMend(error) ? error.message : (error.stack ?? error.message);
}

function canUserMend(error: Error): boolean {
  if (error instanceof CliError || error.name === "ConfigError") return true;
  if (!("path" in error && "code" in error)) return false;
  return writeRefusal(error) !== null && !DEFECT_CODES.includes(String(error.code));
}
