import { CLOCK_ADVANCE_MS_MAX, FAULT_KINDS, FAULT_MS_MAX, FAULT_TIMES_MAX, UNIT_MS } from "@sluice/protocol";
import { Argument, type Command, InvalidArgumentError } from "commander";
import {
  type Execute,
  examples,
  type OnBrokerOptions,
  onBroker,
  positive,
  whole,
  withBroker,
} from "../on-broker.ts";
import type { SetFaultOptions } from "./faults.ts";

/** Parses a duration such as `500ms`, `30s`, `90m`, `12h` or `2d` to ms. */
export function duration(text: string): number {
  const [, number, unit] = /^(\d+(?:\.\d+)?)(ms|s|m|h|d)$/.exec(text) ?? [];
  if (number === undefined || unit === undefined) {
    throw new InvalidArgumentError("It is a number with a unit: 500ms, 30s, 90m, 12h or 2d.");
  }
  return Math.round(Number(number) * (UNIT_MS[unit] ?? 1));
}

/** Parses the distance by which the clock moves to ms. */
function advance(text: string): number {
  const ms = duration(text);
  if (ms <= CLOCK_ADVANCE_MS_MAX) return ms;
  throw new InvalidArgumentError("It is 31d at once at most.");
}

/** Parses the time of a fault to ms. */
function faultMs(text: string): number {
  const ms = duration(text);
  if (ms <= FAULT_MS_MAX) return ms;
  throw new InvalidArgumentError(`It is ${FAULT_MS_MAX / 1_000}s at most.`);
}

/** Parses a number of deliveries. */
function faultTimes(text: string): number {
  const times = positive(text);
  if (times <= FAULT_TIMES_MAX) return times;
  throw new InvalidArgumentError(`It is ${FAULT_TIMES_MAX} at most.`);
}

/** Adds `sluice clock`, which moves the time of all queues in development. */
export function addClock(program: Command, execute: Execute): void {
  const clock = program
    .command("clock")
    .description("see and move the time of all queues, in development")
    .addHelpText(
      "after",
      examples("sluice clock advance 12h", "sluice clock next orders", "sluice clock freeze"),
    );
  withBroker(clock.command("show"))
    .description("show the time of the queues, and how far it is from real time")
    .action((options: OnBrokerOptions) =>
      onBroker(execute, options, async (on) => (await import("./clock.ts")).showClock(on)),
    );
  withBroker(clock.command("advance"))
    .description("move the time forward, at most 31 days at once")
    .argument("<duration>", "500ms, 30s, 90m, 12h or 2d", advance)
    .addHelpText("after", examples("sluice clock advance 90m"))
    .action((advanceMs: number, options: OnBrokerOptions) =>
      onBroker(execute, options, async (on) => (await import("./clock.ts")).changeClock(on, { advanceMs })),
    );
  withBroker(clock.command("next"))
    .description("jump to the next event: a delayed message, a retry, the end of a lease")
    .argument("[queue]", "in this queue (default: in any)")
    .option("--expire", "also where that deletes messages, whose retention ends")
    .addHelpText("after", examples("sluice clock next", "sluice clock next orders"))
    .action((queue: string | undefined, { expire, ...options }: OnBrokerOptions & { expire?: true }) =>
      onBroker(execute, options, async (on) =>
        (await import("./clock.ts")).changeClock(on, {
          to: "next",
          ...(queue === undefined ? {} : { queue }),
          ...(expire === undefined ? {} : { expire }),
        }),
      ),
    );
  for (const [name, freeze, does] of [
    ["freeze", true, "stop the time until it is moved"],
    ["follow", false, "let the time run on from where it stands"],
  ] as const) {
    withBroker(clock.command(name))
      .description(does)
      .action((options: OnBrokerOptions) =>
        onBroker(execute, options, async (on) => (await import("./clock.ts")).changeClock(on, { freeze })),
      );
  }
}

/** Adds `sluice faults`, which makes deliveries fail on purpose in development. */
export function addFaults(program: Command, execute: Execute): void {
  const faults = program
    .command("faults")
    .description("make deliveries of a queue go wrong, in development, to test its handler")
    .addHelpText(
      "after",
      examples("sluice faults set orders loseAck --times 3", "sluice faults clear orders"),
    );
  withBroker(faults.command("list"))
    .description("list the faults that are on")
    .argument("[queue]", "of this queue (default: of all)")
    .action((queue: string | undefined, options: OnBrokerOptions) =>
      onBroker(execute, options, async (on) => (await import("./faults.ts")).listFaults(on, queue ?? null)),
    );
  withBroker(faults.command("set"))
    .description("switch a fault on, and keep the others")
    .argument("<queue>", "name of the queue")
    .addArgument(new Argument("<kind>", "what goes wrong").choices(FAULT_KINDS))
    .option("--times <number>", "in how many deliveries, 1 to 10000 (default: 1)", faultTimes)
    .option("--for <duration>", "for holdBatch, slow and cutLease: up to 60s (default: 1s)", faultMs)
    .option("--seed <number>", "seed of reorder's shuffling (default: 1)", whole)
    .addHelpText(
      "after",
      examples("sluice faults set orders deliverTwice", "sluice faults set orders slow --for 5s --times 10"),
    )
    .action((queue: string, kind: string, options: OnBrokerOptions & SetFaultOptions) =>
      onBroker(execute, options, async (on) =>
        (await import("./faults.ts")).setFault(on, queue, kind, options),
      ),
    );
  withBroker(faults.command("clear"))
    .description("switch all faults of a queue off")
    .argument("<queue>", "name of the queue")
    .action((queue: string, options: OnBrokerOptions) =>
      onBroker(execute, options, async (on) => (await import("./faults.ts")).clearFaults(on, queue)),
    );
}
