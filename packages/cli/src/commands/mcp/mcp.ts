import { createInterface } from "node:readline";
import type { Printer } from "@sluice/local/report/printer";
import { CliError } from "@sluice/project/errors";
import { BrokerClient } from "../../client/broker-client.ts";
import { type BrokerOptions, findBroker } from "../../client/find-broker.ts";
import type { Surroundings } from "../../surroundings.ts";

/** Codes of JSON-RPC, and of an error of this side of it. */
const PARSE_ERROR = -32_700;
const NO_ANSWER = -32_000;

const PROTOCOL_VERSION = "io.modelcontextprotocol/protocolVersion";

/** A message of MCP, as far as it is read here. */
interface Message {
  readonly id?: unknown;
  readonly method?: string;
  readonly params?: { readonly name?: string; readonly _meta?: Readonly<Record<string, string>> };
}

/**
 * Forwards each line of standard input, a message of the Model Context Protocol, to a broker, and prints its answer in a
 * line. The broker is looked for anew for each message: it may start after the agent, and under another port. Ends with
 * standard input.
 */
export async function forwardMcp(
  options: BrokerOptions,
  printer: Printer,
  surroundings: Surroundings,
): Promise<number> {
  const underWay = new Set<Promise<void>>();
  for await (const line of createInterface({ input: surroundings.input })) {
    if (line.trim() === "") continue;
    const forwarded = answerTo(line, () => new BrokerClient(findBroker(options, surroundings))).then(
      (answer) => {
        if (answer !== null) printer.print(JSON.stringify(answer));
        underWay.delete(forwarded);
      },
    );
    underWay.add(forwarded);
  }
  await Promise.all(underWay);
  return 0;
}

/** Answers a message; `null` for one that gets no answer. */
async function answerTo(line: string, broker: () => BrokerClient): Promise<object | null> {
  let message: Message;
  try {
    message = JSON.parse(line) as Message;
  } catch {
    return failed(null, PARSE_ERROR, "The line is no JSON.");
  }
  try {
    return await broker().mcp(message, headersOf(message));
  } catch (error) {
    if (!(error instanceof CliError)) throw error;
    return message.id === undefined ? null : failed(message.id, NO_ANSWER, error.message);
  }
}

/** Headers that repeat what a message of the stateless revision says. */
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
