import { ALERT_SILENCE_MS_MAX } from "@sluice/protocol";
import { type Command, InvalidArgumentError } from "commander";
import { duration } from "../development/grammar.ts";
import { type Execute, examples, type OnBrokerOptions, onBroker, withBroker } from "../on-broker.ts";
import type { SilenceOptions } from "./alerts.ts";

/** Parses the length of a silence to ms. */
export function silenceLength(text: string): number {
  const ms = duration(text);
  if (ms > 0 && ms <= ALERT_SILENCE_MS_MAX) return ms;
  throw new InvalidArgumentError("A silence is longer than nothing, and 30d long at most.");
}

/** Parses the end of a silence. The broker refuses one that is too far away by its own clock. */
export function silenceEnd(text: string): string {
  const isTime = /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:\d\d)$/.test(text);
  const atMs = isTime ? Date.parse(text) : Number.NaN;
  if (Number.isNaN(atMs))
    throw new InvalidArgumentError("It is a time with its zone, such as 2026-12-24T18:00:00Z.");
  if (atMs <= Date.now()) throw new InvalidArgumentError("That time is over.");
  return text;
}

/** Adds `sluice alerts`, which lists, tests and silences the alerts that go to the webhook of `[sluice.alerts]`. */
export function addAlerts(program: Command, execute: Execute): void {
  const alerts = program
    .command("alerts")
    .description("list the alerts that are on, test their webhook, and silence a queue")
    .addHelpText(
      "after",
      examples("sluice alerts list", "sluice alerts test", "sluice alerts silence orders --for 2h"),
    );

  withBroker(alerts.command("list"))
    .description("list the alerts that are on, and how the webhook takes them")
    .addHelpText("after", examples("sluice alerts list", "sluice alerts list --json | jq '.alerts[].queue'"))
    .action((options: OnBrokerOptions) =>
      onBroker(execute, options, async (on) => (await import("./alerts.ts")).listAlerts(on)),
    );
  withBroker(alerts.command("test"))
    .description("send the webhook a test, and wait for its answer")
    .addHelpText("after", examples("sluice alerts test"))
    .action((options: OnBrokerOptions) =>
      onBroker(execute, options, async (on) => (await import("./alerts.ts")).testAlerts(on)),
    );
  withBroker(alerts.command("silence"))
    .description("tell the webhook nothing of a queue until a time; what is on then is told")
    .argument("<queue>", "name of the queue")
    .option("--for <duration>", "how long: 90m, 12h or 2d, at most 30d (default: 1h)", silenceLength)
    .option("--until <time>", "end of the silence: 2026-12-24T18:00:00Z", silenceEnd)
    .option("--off", "end the silence now")
    .addHelpText(
      "after",
      examples(
        "sluice alerts silence orders --for 2h",
        "sluice alerts silence orders --until 2026-12-24T18:00:00Z",
        "sluice alerts silence orders --off",
      ),
    )
    .action((queue: string, options: OnBrokerOptions & SilenceOptions) =>
      onBroker(execute, options, async (on) => (await import("./alerts.ts")).silence(on, queue, options)),
    );
}
