import { plural } from "@sluice/protocol/words";
import type { Backlog, Line } from "./message.ts";

/** Plan of a command. Its members are the answer of `--dry-run --json`. */
export interface Plan {
  readonly from: string;
  readonly to: string;
  readonly settings: Readonly<Record<string, string>>;
  /** Settings of an existing target that differ from the source's, each with both values, in words. */
  readonly differences: readonly string[];
  readonly notCopied: readonly string[];
  readonly backlog: Backlog;
  readonly notes: readonly string[];
  readonly steps: readonly string[];
  /** Reason why nothing can be moved with these options; `null` for none. */
  readonly refusal: string | null;
}

/** Formats a plan. */
export function planText({
  from,
  to,
  settings,
  differences,
  notCopied,
  backlog,
  notes,
  steps,
}: Plan): string {
  const width = Math.max(4, ...Object.keys(settings).map((name) => name.length));
  const row = ([name, value]: Line) => `  ${name.padEnd(width)}  ${value}`;
  return [
    row(["from", from]),
    row(["to", to]),
    ...Object.entries(settings).map(row),
    row(["backlog", backlogText(backlog)]),
    ...section("Settings that stay as they are, since the queue exists:", differences),
    ...section("Not copied:", notCopied),
    ...section("To know:", notes),
    "",
    ...steps.map((step, i) => `${i + 1}. ${step}`),
  ].join("\n");
}

function section(title: string, lines: readonly string[]): string[] {
  return lines.length === 0 ? [] : ["", title, ...lines.map((line) => `  ${line}`)];
}

/** Formats the number of messages in a queue. */
export function backlogText({ waiting, inFlight, delayed }: Backlog): string {
  if (waiting === null) return "not known";
  const parts = [plural(waiting, "message")];
  if (inFlight) parts.push(`${inFlight.toLocaleString("en")} in flight`);
  if (delayed) parts.push(`${delayed.toLocaleString("en")} delayed`);
  return parts.join(", ");
}

/** Counts the messages of a queue in all states. */
export function countOf({ waiting, inFlight, delayed }: Backlog): number {
  return (waiting ?? 0) + (inFlight ?? 0) + (delayed ?? 0);
}

/** Lists the settings of an existing queue that differ from the wanted ones. */
export function differencesOf(wanted: readonly Line[], existing: readonly Line[]): string[] {
  const values = new Map(existing);
  return wanted.flatMap(([name, value]) => {
    const own = values.get(name) ?? "none";
    return own === value ? [] : [`${name}: ${own}, not ${value}`];
  });
}
