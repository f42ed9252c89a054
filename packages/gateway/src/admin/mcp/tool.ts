import * as z from "zod/mini";
import type { QueueDirectory } from "../../account/queue-directory.ts";
import { AdminError } from "../failure.ts";
import { schemaOf } from "../openapi/document.ts";
import type { messageAnswers } from "../openapi/message-answers.ts";
import type { Schema } from "./untrusted.ts";

/** A request to the admin API, below its root. */
export interface ApiRequest {
  /** Default: `GET`. */
  readonly method?: "GET" | "POST" | "PUT" | "DELETE";
  /** Encoded: `/queues/orders`. */
  readonly path: string;
  /** Those that are `undefined` are left out. */
  readonly query?: Readonly<Record<string, string | number | undefined>>;
  readonly body?: object;
}

/** Functions that a tool calls. */
export interface ToolPorts {
  /** Asks the admin API with the caller's rights. Throws `AdminError` for an answer that is no success. */
  ask<Answer>(request: ApiRequest): Promise<Answer>;
  readonly searchDocs: QueueDirectory["searchDocs"];
  /** Waits, in ms. */
  pause(ms: number): Promise<void>;
  /** Whether the caller is gone: nobody reads the answer. */
  isGone(): boolean;
  /** Returns a time in ms that only grows. */
  now(): number;
}

/**
 * Effects of a tool, for clients that ask their user before some. They are no authorisation: the admin API checks what a
 * token may do.
 */
export interface Hints {
  readonly readOnlyHint: boolean;
  readonly destructiveHint: boolean;
  readonly idempotentHint: boolean;
  readonly openWorldHint: boolean;
}

/** Hints of a tool that changes nothing. */
export const READS: Hints = {
  readOnlyHint: true,
  destructiveHint: false,
  idempotentHint: true,
  openWorldHint: false,
};

/** Hints of a tool that changes something, as far as they differ from the most cautious ones. */
export function changes(hints: Partial<Omit<Hints, "readOnlyHint">> = {}): Hints {
  return { readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: true, ...hints };
}

/** A tool of the MCP server. */
export interface Tool {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly hints: Hints;
  readonly input: z.ZodMiniType;
  /** Schema of the answer before `setApart` moves texts of others to members of their own. */
  readonly output: Schema;
  run(input: unknown, ports: ToolPorts): Promise<object>;
}

interface ToolOf<Input extends z.ZodMiniType, Output extends z.ZodMiniType>
  extends Pick<Tool, "name" | "title" | "description" | "hints"> {
  readonly input: Input;
  readonly output: Output;
  run(input: z.output<Input>, ports: ToolPorts): Promise<object>;
}

/** Makes a tool. `run` gets what `input` has parsed, and returns what fits `output`. */
export function tool<Input extends z.ZodMiniType, Output extends z.ZodMiniType>({
  output,
  run,
  ...rest
}: ToolOf<Input, Output>): Tool {
  return {
    ...rest,
    output: schemaOf(output) as Schema,
    run: (input, ports) => run(input as z.output<Input>, ports),
  };
}

/** Input that names a queue. */
export const queueInput = () => z.string().check(z.minLength(1), z.describe("Name of the queue."));
/** Input that names a message. */
export const idInput = () =>
  z.string().check(z.minLength(1), z.describe("Id of the message, its first 8 digits, or its ref."));
/** Input with a filter. */
export const filterInput = () =>
  z
    .string()
    .check(
      z.describe(
        "Terms that all have to fit: state:ready|delayed|leased|finished, error:TEXT, errorGroup:TEXT, attempts:>2, age:>1h, " +
          'from:QUEUE, attr.NAME:VALUE, group:G, FIELD:VALUE of a JSON body, or a text of the body. "" is everything.',
      ),
    );

/** Schema of the last event of a message: how it has left its queue. */
export function lastEvent(event: ReturnType<typeof messageAnswers>["event"]) {
  return z.pick(event, { kind: true, at: true, by: true, to: true, error: true });
}

/** Path of a queue in the admin API. Throws `AdminError` for a name that no path can have. */
export function queuePath(queue: string, ...rest: readonly string[]): string {
  const parts = [queue, ...rest];
  // A URL resolves `.` and `..` to another path, encoded or not.
  const wrong = parts.find((part) => /^\.{1,2}$/.test(part) || !part.isWellFormed());
  if (wrong !== undefined)
    throw new AdminError(404, "not_found", `Nothing has the name ${JSON.stringify(wrong)}.`);
  return ["/queues", ...parts.map(encodeURIComponent)].join("/");
}
