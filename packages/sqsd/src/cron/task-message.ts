import type { AttributeValue } from "@sluice/aws";
import { type PeriodicTask, RESERVED_PREFIX } from "../message.ts";

/** The body of a message that stands for a periodic task. */
export const TASK_BODY = "elasticbeanstalk scheduled job";

/** Makes the attributes of a periodic task's message, as every client of the queue sees them (spec sqsd 8.3). */
export function taskAttributes(task: PeriodicTask): Readonly<Record<string, AttributeValue>> {
  const text = (StringValue: string) => ({ DataType: "String", StringValue });
  return {
    [`${RESERVED_PREFIX}.path`]: text(task.url),
    [`${RESERVED_PREFIX}.task_name`]: text(task.name),
    [`${RESERVED_PREFIX}.scheduled_time`]: text(utcText(task.scheduledMs)),
  };
}

/**
 * Reads the task that a message stands for out of its attributes; `null` for an ordinary one. Only for messages that
 * the daemon itself has sent: else a client that may send could have the application called on any path.
 */
export function taskOf(attributes: Readonly<Record<string, AttributeValue>>): PeriodicTask | null {
  const text = (name: string) => attributes[`${RESERVED_PREFIX}.${name}`]?.StringValue;
  const [url, name, scheduled] = [text("path"), text("task_name"), text("scheduled_time")];
  if (url === undefined || name === undefined || scheduled === undefined) return null;
  const scheduledMs = Date.parse(scheduled.replace(/^(\S+) (\S+) UTC$/, "$1T$2Z"));
  return Number.isNaN(scheduledMs) ? null : { name, url, scheduledMs };
}

/** `2017-03-22 23:10:00 UTC`. */
function utcText(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, 19).replace("T", " ")} UTC`;
}

/** Reads the path that a message's attributes name; `null` for none. */
export function pathOf(attributes: Readonly<Record<string, AttributeValue>>): string | null {
  return attributes[`${RESERVED_PREFIX}.path`]?.StringValue ?? null;
}
