import type { Printer } from "@sluice/local/report/printer";
import { CliError, EXIT_NOT_CONFIRMED } from "@sluice/project/errors";
import { type Command, InvalidArgumentError } from "commander";
import { BrokerClient } from "../client/broker-client.ts";
import { type BrokerOptions, findBroker } from "../client/find-broker.ts";
import type { Surroundings } from "../surroundings.ts";

/** Runs what a command line asks for. Resolves when that has ended. */
export type Execute = (
  command: (printer: Printer, surroundings: Surroundings) => Promise<number>,
) => Promise<void>;

/** Options of every command that uses a broker. */
export interface OnBrokerOptions extends BrokerOptions {
  readonly json?: boolean;
}

/** Context of a command that uses a broker. */
export interface OnBroker {
  readonly client: BrokerClient;
  readonly printer: Printer;
  readonly surroundings: Surroundings;
  /** Whether the answer is to be JSON. */
  readonly json: boolean;
}

/** Adds the options of a command that uses a broker. */
export function withBroker(command: Command): Command {
  return command
    .option("--url <url>", "address of the broker (default: SLUICE_URL, or the broker that runs here)")
    .option(
      "--token <token>",
      "a token of the broker's (default: SLUICE_API_TOKEN, or that of a running sluice dev)",
    )
    .option("--json", "answer in JSON");
}

/** Examples at the end of a command's help. */
export function examples(...lines: readonly string[]): string {
  return `\nExamples:\n${lines.map((line) => `  ${line}`).join("\n")}`;
}

/** Runs a command on the broker that its options name. */
export function onBroker(
  execute: Execute,
  options: OnBrokerOptions,
  run: (on: OnBroker) => Promise<number>,
): Promise<void> {
  return execute(async (printer, surroundings) => {
    const client = new BrokerClient(findBroker(options, surroundings));
    // Who reads our output may have seen enough, as "head" has.
    process.stdout.on("error", endQuietly);
    try {
      return await run({ client, printer, surroundings, json: options.json === true });
    } finally {
      process.stdout.off("error", endQuietly);
    }
  });
}

function endQuietly(error: Error): void {
  if ("code" in error && error.code === "EPIPE") process.exit(0);
  throw error;
}

/** Answers: data to standard output, or where a person asks and there is nothing but words, those to standard error. */
export function answer(
  { printer, json }: OnBroker,
  data: unknown,
  shown: { text: string } | { words: string },
) {
  if (json) printer.print(JSON.stringify(data, null, 2));
  else if ("text" in shown) printer.print(shown.text);
  else printer.warn(shown.words);
}

/** Action that needs a confirmation. */
interface Confirmed {
  /** Name that has to be typed. */
  readonly name: string;
  /** Consequences of the action, in sentences. */
  readonly what: string;
  /** Whether the command line has confirmed it. */
  readonly force: boolean;
  /** Whether it cannot be undone. Default true. */
  readonly isFinal?: boolean;
}

/**
 * Has somebody type a name before something is done that cannot be undone.
 *
 * @throws CliError with `EXIT_NOT_CONFIRMED` where nobody can be asked, and for another name.
 */
export async function confirm(
  { surroundings }: Pick<OnBroker, "surroundings">,
  { name, what, force, isFinal = true }: Confirmed,
): Promise<void> {
  if (force) return;
  const all = isFinal ? `${what} That cannot be undone` : what.replace(/\.$/, "");
  if (!surroundings.isInteractive) {
    throw new CliError(`${all}: --force says that it is meant.`, EXIT_NOT_CONFIRMED);
  }
  const typed = await surroundings.ask(`${all}.\nType ${name} to go on: `);
  if (typed.trim() !== name) {
    throw new CliError(`That is not ${name}. Nothing was changed.`, EXIT_NOT_CONFIRMED);
  }
}

/**
 * Asks whether something is to be done that can be undone.
 *
 * @param yes whether the command line has said so already.
 * @throws CliError with `EXIT_NOT_CONFIRMED` where nobody can be asked, and for any answer but yes.
 */
export async function agree(
  surroundings: Surroundings,
  { question, yes }: { readonly question: string; readonly yes: boolean },
): Promise<void> {
  if (yes) return;
  if (!surroundings.isInteractive) {
    throw new CliError("Nobody can be asked here: --yes says that it is meant.", EXIT_NOT_CONFIRMED);
  }
  const answered = await surroundings.ask(`${question} [y/N] `);
  if (!/^y(es)?$/i.test(answered.trim())) throw new CliError("Nothing was changed.", EXIT_NOT_CONFIRMED);
}

/** A whole number of an option. */
export function whole(value: string): number {
  if (!/^\d{1,15}$/.test(value)) throw new InvalidArgumentError("It is a whole number, 0 or more.");
  return Number(value);
}

/** A whole number that is not 0. */
export function positive(value: string): number {
  const number = whole(value);
  if (number === 0) throw new InvalidArgumentError("It is a whole number, 1 or more.");
  return number;
}

/** Collects the values of an option that can be repeated. */
export function collect(value: string, before: readonly string[] = []): string[] {
  return [...before, value];
}
