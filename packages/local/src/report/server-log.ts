import { format as formatted } from "node:util";
import type { Printer } from "./printer.ts";

/** Formats of the lines of a server's log. */
export const LOG_FORMATS = ["text", "json"] as const;
export type LogFormat = (typeof LOG_FORMATS)[number];
export type LogLevel = "debug" | "info" | "warn" | "error";

/**
 * Log of a server. `print` logs with level `info`, `warn` with level `warn`. Warnings and errors go to standard error.
 * As text the first line of a message begins with time and level; as JSON each message is one line.
 */
export interface ServerLog extends Printer {
  write(level: LogLevel, message: string): void;
  /**
   * Logs a text for people at the start, such as a table. As text it has neither time nor level.
   *
   * @param fields the same facts for programs: fields of the JSON beside the message.
   */
  introduce(text: string, fields?: Readonly<Record<string, string>>): void;
}

/** @param now in ms since 1970. */
export function createServerLog(format: LogFormat, printer: Printer, now: () => number): ServerLog {
  const write = (level: LogLevel, message: string, fields: Readonly<Record<string, string>> = {}) => {
    const time = new Date(now()).toISOString();
    const line =
      format === "json"
        ? JSON.stringify({ time, level, message, ...fields })
        : `${time} ${level.padEnd(5)} ${message}`;
    if (level === "warn" || level === "error") printer.warn(line);
    else printer.print(line);
  };
  return {
    write,
    print: (text) => write("info", text),
    warn: (text) => write("warn", text),
    introduce: (text, fields) =>
      format === "json" ? write("info", text.trim(), fields) : printer.print(text),
  };
}

/** A log that receives all output of this process. */
interface OpenServerLog extends ServerLog {
  /** Restores the console and Node's warnings. */
  close(): void;
}

const CONSOLE_LEVELS = { debug: "debug", log: "info", info: "info", warn: "warn", error: "error" } as const;

/**
 * Opens the log of this process. The console, by which the broker, Miniflare and Wrangler print, writes into it. The
 * process goes on when the reader of its output ends.
 */
export function openServerLog(format: LogFormat, printer: Printer): OpenServerLog {
  const log = createServerLog(format, printer, () => Date.now());
  const ignoreError = () => {};
  const streams = [process.stdout, process.stderr];
  for (const stream of streams) stream.on("error", ignoreError);
  const before = { ...console };
  for (const [method, level] of Object.entries(CONSOLE_LEVELS)) {
    Object.assign(console, { [method]: (...args: unknown[]) => log.write(level, formatted(...args)) });
  }
  // Node's own listener prints warnings: the log takes its place.
  const listeners = process.listeners("warning");
  process.removeAllListeners("warning");
  process.on("warning", ({ stack, name, message }) => log.write("warn", stack ?? `${name}: ${message}`));
  return {
    ...log,
    close: () => {
      for (const method of Object.keys(CONSOLE_LEVELS)) {
        Object.assign(console, { [method]: before[method as keyof typeof CONSOLE_LEVELS] });
      }
      process.removeAllListeners("warning");
      for (const listener of listeners) process.on("warning", listener);
      for (const stream of streams) stream.off("error", ignoreError);
    },
  };
}
