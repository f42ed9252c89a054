import type { Printer } from "@sluice/local/report/printer";
import { CliError, EXIT_FAILED, EXIT_NOT_CONFIRMED } from "@sluice/project/errors";
import { SHARDS_MAX } from "@sluice/protocol";
import { span } from "@sluice/protocol/words";
import { type Command, InvalidArgumentError } from "commander";
import { BrokerClient } from "../client/broker-client.ts";
import { type BrokerOptions, findBroker } from "../client/find-broker.ts";
import { withSimilarNames } from "../client/queue-names.ts";
import type { Surroundings } from "../surroundings.ts";

/** Runs a command and resolves when it has ended. */
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
  /** Whether the answer is JSON. */
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

/** Formats examples for the end of a command's help. */
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
    const address = findBroker(options, surroundings);
    if (typeof address.stranger === "string") printer.warn(`This is the broker of ${address.stranger}.`);
    // A script is told nothing while it waits. The error says why at the end.
    const tell = surroundings.showsProgress ? (text: string) => printer.warn(text) : null;
    const client = new BrokerClient(address, tell);
    // The reader of our output may close it early, as "head" does.
    process.stdout.on("error", endQuietly);
    try {
      return await run({ client, printer, surroundings, json: options.json === true });
    } catch (error) {
      throw await withSimilarNames(error, client);
    } finally {
      process.stdout.off("error", endQuietly);
    }
  });
}

/**
 * Ends the process when standard output fails: with exit code 0 when the reader has closed it, else with the reason.
 * It is a listener for the stream's errors.
 */
export function endQuietly(error: NodeJS.ErrnoException): void {
  if (error.code === "EPIPE") process.exit(0);
  process.stderr.write(`Standard output cannot be written: ${error.message}\n`);
  process.exit(EXIT_FAILED);
}

/** Prints an answer: with `--json` the data, else `text`, or else `words`, which go to standard error. */
export function answer(
  { printer, json }: OnBroker,
  data: unknown,
  shown: { text: string } | { words: string },
) {
  if (json) printer.print(JSON.stringify(data, null, 2));
  else if ("text" in shown) printer.print(shown.text);
  else printer.warn(shown.words);
}

interface Confirmed {
  readonly name: string;
  /** Consequences of the action, in sentences. */
  readonly what: string;
  /** Whether the command line confirms it. */
  readonly force: boolean;
  /** Whether the action cannot be undone. Default: true. */
  readonly isFinal?: boolean;
}

/**
 * Has the user type a name before an action that cannot be undone.
 *
 * @throws CliError with `EXIT_NOT_CONFIRMED` where there is no terminal, and for another name.
 */
export async function confirm(
  { surroundings }: Pick<OnBroker, "surroundings">,
  { name, what, force, isFinal = true }: Confirmed,
): Promise<void> {
  if (force) return;
  const all = isFinal ? `${what} That cannot be undone` : what.replace(/\.$/, "");
  if (!surroundings.isInteractive) {
    throw new CliError(`${all}: --force confirms it.`, EXIT_NOT_CONFIRMED);
  }
  const typed = await surroundings.ask(`${all}.\nType ${name} to go on: `);
  if (typed.trim() !== name) {
    throw new CliError(`That is not ${name}. Nothing was changed.`, EXIT_NOT_CONFIRMED);
  }
}

/**
 * Asks the user before an action that can be undone.
 *
 * @param yes whether the command line confirms it.
 * @throws CliError with `EXIT_NOT_CONFIRMED` where there is no terminal, and for any answer but yes.
 */
export async function agree(
  surroundings: Surroundings,
  { question, yes }: { readonly question: string; readonly yes: boolean },
): Promise<void> {
  if (yes) return;
  if (!surroundings.isInteractive) {
    throw new CliError("There is no terminal to ask at: --yes confirms it.", EXIT_NOT_CONFIRMED);
  }
  const answered = await surroundings.ask(`${question} [y/N] `);
  if (!/^y(es)?$/i.test(answered.trim())) throw new CliError("Nothing was changed.", EXIT_NOT_CONFIRMED);
}

/** Parses a whole number. */
export function whole(value: string): number {
  return wholeOr(value, "It is a whole number, 0 or more.");
}

function wholeOr(value: string, refusal: string): number {
  if (!/^\d{1,15}$/.test(value)) throw new InvalidArgumentError(refusal);
  return Number(value);
}

/** Makes a parser for a number of seconds within limits. */
export function seconds(least: number, most: number): (value: string) => number {
  return (value) => {
    const number = whole(value);
    if (number >= least && number <= most) return number;
    const [from, to] = [least, most].map((limit) => limit.toLocaleString("en"));
    throw new InvalidArgumentError(`It is ${from} to ${to} seconds (${span(1_000 * most)}).`);
  };
}

/** Parses the number of a queue's shards. */
export function shards(value: string): number {
  const refusal = `A queue has 1 to ${SHARDS_MAX} shards.`;
  const number = wholeOr(value, refusal);
  if (number >= 1 && number <= SHARDS_MAX) return number;
  throw new InvalidArgumentError(refusal);
}

/** Parses a whole number that is not 0. */
export function positive(value: string): number {
  const refusal = "It is a whole number, 1 or more.";
  const number = wholeOr(value, refusal);
  if (number === 0) throw new InvalidArgumentError(refusal);
  return number;
}

/** Collects the values of a repeatable option. */
export function collect(value: string, before: readonly string[] = []): string[] {
  return [...before, value];
}
