import { parseJson } from "../../http/bounded-json.ts";

/** Revisions of the protocol that begin with a handshake, the newest first. */
export const HANDSHAKE_VERSIONS = ["2025-11-25", "2025-06-18"] as const;
/** Revision without a handshake: each request carries the version. */
export const STATELESS_VERSION = "2026-07-28";

const META = "io.modelcontextprotocol";
/** How long a client may keep the list of tools, in ms. */
const LIST_KEPT_MS = 60_000;

const CODES = {
  parse: -32_700,
  invalidRequest: -32_600,
  noMethod: -32_601,
  invalidParams: -32_602,
  headerMismatch: -32_020,
  unsupportedVersion: -32_022,
} as const;

/** Answer of a tool. */
export interface ToolAnswer {
  readonly content: readonly { readonly type: "text"; readonly text: string }[];
  readonly structuredContent?: object;
  readonly isError?: boolean;
}

/** Server of tools. */
export interface ToolServer {
  readonly info: { readonly name: string; readonly title: string; readonly version: string };
  readonly instructions: string;
  listTools(): readonly object[];
  /** Returns `null` where there is no such tool. */
  callTool(name: string, input: unknown): Promise<ToolAnswer | null>;
}

/** Answer to an HTTP request. */
export interface McpAnswer {
  readonly status: 200 | 202 | 400 | 404;
  /** `null` for no body. */
  readonly body: object | null;
}

interface Message {
  readonly id?: unknown;
  readonly method?: unknown;
  readonly params?: Readonly<Record<string, unknown>>;
}

class ProtocolFault extends Error {
  readonly code: number;
  readonly data: object | undefined;
  constructor(code: number, message: string, data?: object) {
    super(message);
    this.code = code;
    this.data = data;
  }
}

/**
 * Answers a message of the Model Context Protocol by HTTP, as a server that has tools, keeps no session and streams
 * nothing. Speaks the revisions with a handshake, and the stateless one.
 */
export async function answerMcp(
  server: ToolServer,
  headers: Pick<Headers, "get">,
  text: string,
): Promise<McpAnswer> {
  let id: unknown = null;
  let isStateless = false;
  try {
    const message = messageIn(text);
    const { method } = message;
    // Notifications, and answers to requests that this server does not make.
    if (message.id === undefined || method === undefined) return { status: 202, body: null };
    ({ id } = message);
    if (typeof method !== "string") throw new ProtocolFault(CODES.invalidRequest, '"method" must be a text.');
    isStateless = isStatelessRequest(message, headers, method);
    const result = await resultOf(server, method, message.params ?? {}, isStateless);
    return { status: 200, body: { jsonrpc: "2.0", id, result } };
  } catch (error) {
    if (!(error instanceof ProtocolFault)) throw error;
    const { code, message, data } = error;
    const described = { code, message, ...(data === undefined ? {} : { data }) };
    return { status: statusOf(code, isStateless), body: { jsonrpc: "2.0", id, error: described } };
  }
}

/** Returns the HTTP status of an error. In the revisions with a handshake 404 would mean the end of a session. */
function statusOf(code: number, isStateless: boolean): McpAnswer["status"] {
  if (code === CODES.noMethod) return isStateless ? 404 : 200;
  return code === CODES.invalidParams ? 200 : 400;
}

function messageIn(text: string): Message {
  let json: unknown;
  try {
    json = parseJson(text);
  } catch (error) {
    throw new ProtocolFault(
      CODES.parse,
      `The body is no JSON: ${error instanceof Error ? error.message : error}`,
    );
  }
  const isMessage =
    typeof json === "object" &&
    json !== null &&
    !Array.isArray(json) &&
    "jsonrpc" in json &&
    json.jsonrpc === "2.0";
  if (!isMessage)
    throw new ProtocolFault(CODES.invalidRequest, "The body must be one message of JSON-RPC 2.0.");
  const message = json as Message;
  const { params, id } = message;
  if (params !== undefined && (typeof params !== "object" || params === null || Array.isArray(params))) {
    throw new ProtocolFault(CODES.invalidRequest, '"params" must be an object.');
  }
  if (id !== undefined && typeof id !== "string" && typeof id !== "number") {
    throw new ProtocolFault(CODES.invalidRequest, '"id" must be a text or a number.');
  }
  return message;
}

/**
 * Whether a request is of the stateless revision. Throws for an unsupported revision, and for a stateless request whose
 * headers differ from its body: a proxy may have admitted it by its headers.
 */
function isStatelessRequest({ params }: Message, headers: Pick<Headers, "get">, method: string): boolean {
  const meta = params?._meta as Readonly<Record<string, unknown>> | undefined;
  const version = meta?.[`${META}/protocolVersion`];
  const named = headers.get("mcp-protocol-version");
  if (version === undefined) {
    if (named === null || HANDSHAKE_VERSIONS.some((known) => known === named)) return false;
    throw unsupported(named);
  }
  if (version !== STATELESS_VERSION) throw unsupported(version);
  const expected = {
    "mcp-protocol-version": version,
    "mcp-method": method,
    "mcp-name": nameIn(method, params),
  };
  for (const [header, value] of Object.entries(expected)) {
    if (value === undefined || headers.get(header) === value) continue;
    throw new ProtocolFault(
      CODES.headerMismatch,
      `The header ${header} must be ${JSON.stringify(value)}, as in the body.`,
    );
  }
  return true;
}

function nameIn(method: string, params: Message["params"]): string | undefined {
  return method === "tools/call" && typeof params?.name === "string" ? params.name : undefined;
}

function unsupported(requested: unknown): ProtocolFault {
  const supported = [STATELESS_VERSION, ...HANDSHAKE_VERSIONS];
  return new ProtocolFault(CODES.unsupportedVersion, "Unsupported protocol version", {
    supported,
    requested,
  });
}

async function resultOf(
  server: ToolServer,
  method: string,
  params: Readonly<Record<string, unknown>>,
  isStateless: boolean,
): Promise<object> {
  const capabilities = { tools: {} };
  const { info, instructions } = server;
  const complete = isStateless ? { resultType: "complete", _meta: { [`${META}/serverInfo`]: info } } : {};
  const kept = isStateless ? { ttlMs: LIST_KEPT_MS, cacheScope: "private" } : {};
  switch (method) {
    case "initialize": {
      if (isStateless) break;
      const asked = HANDSHAKE_VERSIONS.find((version) => version === params.protocolVersion);
      const protocolVersion = asked ?? HANDSHAKE_VERSIONS[0];
      return { protocolVersion, capabilities, serverInfo: info, instructions };
    }
    case "server/discover":
      return { ...complete, ...kept, supportedVersions: [STATELESS_VERSION], capabilities, instructions };
    case "ping":
      if (isStateless) break;
      return {};
    case "tools/list":
      return { ...complete, ...kept, tools: server.listTools() };
    case "tools/call": {
      const { name } = params;
      const answer = typeof name === "string" ? await server.callTool(name, params.arguments ?? {}) : null;
      if (answer === null)
        throw new ProtocolFault(CODES.invalidParams, `There is no tool ${JSON.stringify(name)}.`);
      return { ...complete, ...answer };
    }
  }
  throw new ProtocolFault(CODES.noMethod, `There is no method ${JSON.stringify(method)}.`);
}
