import type {
  BackupMessage,
  BackupQueue,
  BackupSubscription,
  BackupTopic,
  BackupTopicSubscription,
  BackupView,
} from "@sluice/gateway/views";
import { CliError, EXIT_FAILED } from "@sluice/project/errors";

/** The version of a backup's lines. Another one is for lines that this version would misread. */
export const BACKUP_VERSION = 1;

/** The first line of a backup. */
export interface BackupHeader {
  readonly sluice: "backup";
  readonly version: number;
  /** When it was begun. */
  readonly at: string;
  /** Names of queues, and ARNs of topics, that it has: for people. An import goes by the lines of each. */
  readonly queues: readonly string[];
  readonly topics: readonly string[];
}

/**
 * Any other line. What a line names stands in a line before it, and the last one is `end`: without it the backup was
 * cut off.
 */
export type BackupLine =
  | SettingsLine
  | { readonly in: string; readonly message: BackupMessage }
  | { readonly end: { readonly messages: number } };

export interface QueueLine {
  readonly queue: BackupQueue;
}

/** A line about what the broker is set to: all of them stand before the first message. */
export type SettingsLine =
  | QueueLine
  | { readonly topic: BackupTopic }
  | { readonly topicSubscription: BackupTopicSubscription }
  | { readonly subscription: BackupSubscription };

const SETTINGS = ["queue", "topic", "topicSubscription", "subscription"];

/** The lines with which a backup begins. */
export function firstLines(backup: BackupView): string {
  const header: BackupHeader = {
    sluice: "backup",
    version: BACKUP_VERSION,
    at: backup.at,
    queues: backup.queues.map(({ name }) => name),
    topics: backup.topics.map(({ arn }) => arn),
  };
  const lines: (BackupHeader | BackupLine)[] = [
    header,
    ...backup.queues.map((queue) => ({ queue })),
    ...backup.topics.map((topic) => ({ topic })),
    ...backup.topicSubscriptions.map((topicSubscription) => ({ topicSubscription })),
    ...backup.subscriptions.map((subscription) => ({ subscription })),
  ];
  return linesOfBackup(lines);
}

export function linesOfBackup(lines: readonly object[]): string {
  return lines.map((line) => `${JSON.stringify(line)}\n`).join("");
}

/**
 * Checks the first line of a backup.
 *
 * @param file for people.
 * @throws CliError for one that is none, or of another version.
 */
export function checkHeader(text: string, file: string): void {
  const value = jsonIn(text);
  if (!isObject(value) || value.sluice !== "backup") {
    throw new CliError(
      `${file} is no backup: its first line is not that of "sluice export --all".`,
      EXIT_FAILED,
    );
  }
  if (value.version !== BACKUP_VERSION) {
    const text = `${file} is a backup of version ${value.version}, and this sluice reads version ${BACKUP_VERSION}.`;
    throw new CliError(text, EXIT_FAILED);
  }
  for (const list of ["queues", "topics"]) {
    const names = value[list];
    if (Array.isArray(names) && names.every((name) => typeof name === "string")) continue;
    throw new CliError(`${file}:1: "${list}" has to be a list of names.`, EXIT_FAILED);
  }
}

/**
 * Reads another line.
 *
 * @param place of the line, for people.
 * @throws CliError for a line that is none of a backup's.
 */
export function backupLineIn(text: string, place: string): BackupLine {
  const value = jsonIn(text);
  const kinds = [...SETTINGS, "message", "end"];
  const found = isObject(value) ? kinds.filter((kind) => Object.hasOwn(value, kind)) : [];
  const [kind = ""] = found;
  if (found.length !== 1 || !isObject(value) || !isObject(value[kind])) {
    throw new CliError(`${place}: this is no line of a backup.`, EXIT_FAILED);
  }
  if (kind === "message" && typeof value.in !== "string") {
    throw new CliError(`${place}: "in" has to name the queue of the message.`, EXIT_FAILED);
  }
  return value as unknown as BackupLine;
}

/** Whether a line is about what the broker is set to. */
export function isSettings(line: BackupLine): line is SettingsLine {
  return SETTINGS.some((kind) => Object.hasOwn(line, kind));
}

/** `undefined` for what is no JSON. */
function jsonIn(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
