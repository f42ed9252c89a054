import type {
  BackupMessage,
  BackupQueue,
  BackupSubscription,
  BackupTopic,
  BackupTopicSubscription,
  BackupView,
} from "@sluice/gateway/views";
import { CliError, EXIT_FAILED } from "@sluice/project/errors";

/** Version of the format of a backup. It increases when a release with the old version would misread new lines. */
const BACKUP_VERSION = 1;

/** First line of a backup. */
interface BackupHeader {
  readonly sluice: "backup";
  readonly version: number;
  /** Time of the backup's start. */
  readonly at: string;
  /** Names of the queues and ARNs of the topics, for people. An import reads the lines below instead. */
  readonly queues: readonly string[];
  readonly topics: readonly string[];
}

/**
 * Any other line. A contract: releases read each other's backups. The line of a queue or topic comes before the lines
 * that name it. The last line is `end`; a backup without it was cut off.
 */
export type BackupLine =
  | SettingsLine
  | { readonly in: string; readonly message: BackupMessage }
  | { readonly end: { readonly messages: number } };

export interface QueueLine {
  readonly queue: BackupQueue;
}

/** A line with settings of the broker. All such lines come before the first message. */
export type SettingsLine =
  | QueueLine
  | { readonly topic: BackupTopic }
  | { readonly topicSubscription: BackupTopicSubscription }
  | { readonly subscription: BackupSubscription };

const SETTINGS = ["queue", "topic", "topicSubscription", "subscription"];

/** Formats the lines at the beginning of a backup. */
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
 * @param file name of the file for error texts.
 * @throws CliError for a line that is no header, or of another version.
 */
export function checkHeader(text: string, file: string): void {
  const value = jsonIn(text);
  if (!isObject(value) || value.sluice !== "backup") {
    throw new CliError(
      `${file} is not a backup: its first line is not from "sluice export --all".`,
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
 * Reads a line after the first.
 *
 * @param place file and number of the line, for error texts.
 * @throws CliError for a line that belongs in no backup.
 */
export function backupLineIn(text: string, place: string): BackupLine {
  const value = jsonIn(text);
  const kinds = [...SETTINGS, "message", "end"];
  const found = isObject(value) ? kinds.filter((kind) => Object.hasOwn(value, kind)) : [];
  const [kind = ""] = found;
  if (found.length !== 1 || !isObject(value) || !isObject(value[kind])) {
    throw new CliError(`${place}: this is not a line of a backup.`, EXIT_FAILED);
  }
  if (kind === "message" && typeof value.in !== "string") {
    throw new CliError(`${place}: "in" has to name the queue of the message.`, EXIT_FAILED);
  }
  return value as unknown as BackupLine;
}

/** Whether a line has settings of the broker. */
export function isSettings(line: BackupLine): line is SettingsLine {
  return SETTINGS.some((kind) => Object.hasOwn(line, kind));
}

/** Parses JSON; returns `undefined` where that fails. */
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
