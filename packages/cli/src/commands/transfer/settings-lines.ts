import { CliError, EXIT_FAILED } from "@sluice/project/errors";
import { printable } from "@sluice/protocol/words";
import type { QueueLine, SettingsLine } from "./backup-lines.ts";

/** A line with settings, and its number in the file. */
export interface NumberedSettings {
  readonly line: SettingsLine;
  readonly number: number;
}

/**
 * Lists the names of the queues and the ARNs of the topics that a line defines or leads to. Values that are no strings
 * are left out, because the broker validates the line later.
 */
export function namesIn(line: SettingsLine): string[] {
  if ("topic" in line) return textsOf([line.topic.arn]);
  if ("subscription" in line) return textsOf([line.subscription.queue]);
  if ("topicSubscription" in line) {
    const { topicArn, target, deadLetterQueue } = line.topicSubscription;
    return textsOf([topicArn, target, deadLetterQueue]);
  }
  const redrive = Object(line.queue.settings).receive?.redrive;
  return textsOf([line.queue.name, consumersTargetOf(line), redrive?.deadLetterQueue]);
}

/**
 * Sorts settings so that each dead-letter queue comes before the queues whose consumers send dead letters to it.
 * Otherwise the broker would create the dead-letter queue with default settings before its own line is restored.
 *
 * @param there names of queues that the broker has, which stay as they are.
 * @param file name of the file for error texts.
 * @throws CliError for dead letters that go in a circle, and for a queue with two lines.
 */
export function targetsFirst(
  lines: readonly NumberedSettings[],
  there: ReadonlySet<string>,
  file: string,
): NumberedSettings[] {
  const targets = new Map<string, string | undefined>();
  for (const { line, number } of lines) {
    if (!("queue" in line) || there.has(line.queue.name)) continue;
    const { name } = line.queue;
    if (targets.has(name)) throw refusal(file, number, `the queue ${name} has a line before this one`);
    targets.set(name, consumersTargetOf(line));
  }
  const depthOf = ({ line, number }: NumberedSettings): number => {
    if (!("queue" in line)) return Number.POSITIVE_INFINITY;
    const path = new Set([line.queue.name]);
    for (let next = targets.get(line.queue.name); next !== undefined; next = targets.get(next)) {
      if (path.has(next)) {
        throw refusal(file, number, `dead letters would go in a circle: ${[...path, next].join(" -> ")}`);
      }
      path.add(next);
    }
    return path.size;
  };
  const depths = lines.map((one) => [depthOf(one), one] as const);
  return depths.sort(([a], [b]) => (a === b ? 0 : a - b)).map(([, one]) => one);
}

function consumersTargetOf(line: QueueLine): string | undefined {
  const [target] = textsOf([Object(line.queue.consumer).settings?.deadLetterQueue]);
  return target;
}

function textsOf(values: readonly unknown[]): string[] {
  return values.filter((value) => typeof value === "string");
}

function refusal(file: string, number: number, problem: string): CliError {
  return new CliError(`${file}:${number}: ${printable(problem)}.`, EXIT_FAILED);
}
