import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";

/** Answer of a tool. */
export interface Answer {
  readonly isError: boolean;
  readonly text: string;
  // biome-ignore lint/suspicious/noExplicitAny: the client has checked it by the tool's schema.
  readonly data: any;
}

/** An agent: the official client, which checks each answer by the schema of its tool. */
export interface Agent extends AsyncDisposable {
  readonly client: Client;
  call(tool: string, input?: Record<string, unknown>): Promise<Answer>;
}

/**
 * Connects an agent.
 *
 * @param url address of MCP.
 * @param mode `auto` tries the stateless revision of the protocol first; `legacy` does not.
 */
export async function connectAgent(
  url: string,
  { token, mode = "legacy" }: { readonly token?: string; readonly mode?: "legacy" | "auto" } = {},
): Promise<Agent> {
  const client = new Client({ name: "test", version: "1" }, { versionNegotiation: { mode } });
  const headers: Record<string, string> = token === undefined ? {} : { authorization: `Bearer ${token}` };
  await client.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers } }));
  // The client checks answers by the schemas that it has seen.
  await client.listTools();
  return {
    client,
    call: async (name, input = {}) => {
      const {
        isError = false,
        content,
        structuredContent,
      } = await client.callTool({ name, arguments: input });
      const [first] = content as { type: string; text: string }[];
      return { isError, text: first?.text ?? "", data: structuredContent };
    },
    [Symbol.asyncDispose]: () => client.close(),
  };
}
