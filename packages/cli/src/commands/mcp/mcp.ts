import { createInterface } from "node:readline";
import type { Printer } from "@sluice/local/report/printer";
import { CliError } from "@sluice/project/errors";
import { BrokerClient } from "../../client/broker-client.ts";
import { type BrokerOptions, findBroker } from "../../client/find-broker.ts";
import type { Surroundings } from "../../surroundings.ts";
import { endQuietly } from "../on-broker.ts";

/** JSON-RPC's error code for text that is not JSON. */
const PARSE_ERROR = -32_700;
/** JSON-RPC's error code for a broker that refuses a message, or does not answer. */
const NO_ANSWER = -32_000;

const PROTOCOL_VERSION = "io.modelcontextprotocol/protocolVersion";

/** The members of an MCP message that this command reads. */
interface Message {
  readonly id?: unknown;
  readonly method?: string;
  readonly params?: {
    readonly name?: string;
    readonly requestId?: unknown;
    readonly _meta?: Readonly<Record<string, string>>;
  };
}

/**
 * Forwards each line of standard input, a message of the Model Context Protocol, to a broker, and prints the answer on
 * a line. It looks for the broker with each message, since the broker may start after the agent, or on another port. A
 * request that the agent cancels is aborted. The command ends with standard input, or when standard output is closed.
 */
export async function forwardMcp(
  options: BrokerOptions,
  printer: Printer,
  surroundings: Surroundings,
): Promise<number> {
  const underWay = new Set<Promise<void>>();
  const requests = new Map<unknown, AbortController>();
  process.stdout.on("error", endQuietly);
  const forward = async (line: string) => {
    const message = messageIn(line);
    if (message === null)
      return printer.print(JSON.stringify(failed(null, PARSE_ERROR, "The line is no JSON.")));
    const { id, method, params } = message;
    if (method === "notifications/cancelled") requests.get(params?.requestId)?.abort();
    const request = new AbortController();
    if (id !== undefined) requests.set(id, request);
    const broker = () => new BrokerClient(findBroker(options, surroundings));
    const answer = await answerTo(message, broker, request.signal);
    requests.delete(id);
    if (answer !== null) printer.print(JSON.stringify(answer));
  };
  try {
    for await (const line of createInterface({ input: surroundings.input })) {
      if (line.trim() === "") continue;
      const forwarded = forward(line).finally(() => underWay.delete(forwarded));
      underWay.add(forwarded);
    }
    await Promise.all(underWay);
  } finally {
    process.stdout.off("error", endQuietly);
  }
  return 0;
}

function messageIn(line: string): Message | null {
  try {
    const json: unknown = JSON.parse(line);
    // The broker refuses a message that is no object.
    return (typeof json === "object" && json !== null ? json : {}) as Message;
  } catch {
    return null;
  }
}

/** Answers a message; `null` for one that gets no answer. */
async function answerTo(
  message: Message,
  broker: () => BrokerClient,
  cancelled: AbortSignal,
): Promise<object | null> {
  try {
    return await broker().mcp(message, headersOf(message), cancelled);
  } catch (error) {
    if (cancelled.aborted) return null;
    if (!(error instanceof CliError)) throw error;
    return message.id === undefined ? null : failed(message.id, NO_ANSWER, error.message);
  }
}

/** Makes the headers that repeat members of a message, which the stateless revision of the protocol requires. */
function headersOf({ method = "", params }: Message): Record<string, string> {
  const version = params?._meta?.[PROTOCOL_VERSION];
  if (version === undefined) return {};
  const name = method === "tools/call" ? params?.name : undefined;
  return {
    "mcp-protocol-version": version,
    "mcp-method": method,
    ...(name === undefined ? {} : { "mcp-name": name }),
  };
}

function failed(id: unknown, code: number, message: string): object {
  return { jsonrpc: "2.0", id, error: { code, message } };
}
