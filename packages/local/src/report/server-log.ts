import { format as formatted } from "node:util";
import type { Printer } from "./printer.ts";

/** How the lines of a server's log are written. */
export const LOG_FORMATS = ["text", "json"] as const;
export type LogFormat = (typeof LOG_FORMATS)[number];
export type LogLevel = "debug" | "info" | "warn" | "error";

/**
 * Log of a server. What it prints has level `info`, what it warns of `warn`. Warnings and errors go to standard error.
 * As text the first line of a message begins with time and level; as JSON each message is one line.
 */
export interface ServerLog extends Printer {
  write(level: LogLevel, message: string): void;
  /**
   * Says at the start what a person wants to see, as a table. Text has it as it is, without a time.
   *
   * @param fields the same for programs: JSON has them beside the message.
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

/** A log that everything goes into that this process prints. */
interface OpenServerLog extends ServerLog {
  /** Lets the console, and warnings of Node.js, go where they went before. */
  close(): void;
}

const CONSOLE_LEVELS = { debug: "debug", log: "info", info: "info", warn: "warn", error: "error" } as const;

/**
 * Opens the log of this process, whose console then writes into it: the broker prints by that, and so do Miniflare and
 * Wrangler. A reader of the output that goes away ends nothing.
 */
export function openServerLog(format: LogFormat, printer: Printer): OpenServerLog {
  const log = createServerLog(format, printer, () => Date.now());
  const nobodyReads = () => {};
  const streams = [process.stdout, process.stderr];
  for (const stream of streams) stream.on("error", nobodyReads);
  const before = { ...console };
  for (const [method, level] of Object.entries(CONSOLE_LEVELS)) {
    Object.assign(console, { [method]: (...args: unknown[]) => log.write(level, formatted(...args)) });
  }
  // Node.js prints its warnings by a listener of its own.
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
      for (const stream of streams) stream.off("error", nobodyReads);
    },
  };
}
