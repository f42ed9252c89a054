import {
  isReservedActor,
  SCOPES,
  type Scope,
  TOKEN_NAME,
  TOKEN_SECONDS_MAX,
  TOKENS_MAX,
  type TokenRecord,
  type TokenReply,
} from "@sluice/protocol";
import { type Context, Hono } from "hono";
import * as z from "zod/mini";
import type { QueueDirectory } from "../../account/queue-directory.ts";
import { bodyText } from "../../http/body-text.ts";
import { parseJson } from "../../http/bounded-json.ts";
import type { Authority } from "../../rights/authority.ts";
import { setChanged } from "../../rights/route-needs.ts";
import { newSecret } from "../../rights/secrets.ts";
import { AdminError } from "../failure.ts";
import { timeOf } from "../time.ts";

/** Most requests a second that a token can be held to. */
export const TOKEN_RATE_MAX = 100_000;
/** How long the old secret of a rotated token is valid unless the request says, in seconds: a day. */
export const GRACE_SECONDS_DEFAULT = 86_400;
/** Longest time that the old secret can stay valid, in seconds: thirty days. */
export const GRACE_SECONDS_MAX = 2_592_000;
/** Most names of queues of a token. */
const QUEUES_OF_TOKEN_MAX = 100;

/** A queue's name, or the beginning of one and `*`. */
const QUEUE_PATTERN = /^[^*\s]{0,200}\*?$/;

/** Body of a request that creates a token. */
export const NEW_TOKEN = z.strictObject({
  name: z.string().check(z.regex(TOKEN_NAME)),
  scopes: z.array(z.enum(SCOPES)).check(z.minLength(1)),
  queues: z._default(
    z
      .array(z.string().check(z.minLength(1), z.regex(QUEUE_PATTERN)))
      // An empty list would mean every queue: a program that has found no queue must not get a token for all.
      .check(z.minLength(1), z.maxLength(QUEUES_OF_TOKEN_MAX)),
    [],
  ),
  expiresInSeconds: z.optional(z.int().check(z.gte(1), z.lte(TOKEN_SECONDS_MAX))),
  ratePerSecond: z.optional(z.int().check(z.gte(1), z.lte(TOKEN_RATE_MAX))),
  aws: z._default(z.boolean(), false),
});
const NEW_TOKEN_TEXT =
  'The body must be {"name", "scopes"}, with any of "queues", "expiresInSeconds", "ratePerSecond" and "aws". ' +
  `A name has 1 to 64 of a-z, 0-9, ".", "_" and "-". Scopes are ${SCOPES.join(", ")}. ` +
  `Queues are names, or beginnings of names with a "*" behind, 1 to ${QUEUES_OF_TOKEN_MAX}; without them it is every ` +
  "queue. " +
  `A token is valid for 1 to ${TOKEN_SECONDS_MAX} s, and makes 1 to ${TOKEN_RATE_MAX} requests a second.`;

/** Body of a request that rotates a token. */
export const ROTATION = z.strictObject({
  graceSeconds: z._default(z.int().check(z.gte(0), z.lte(GRACE_SECONDS_MAX)), GRACE_SECONDS_DEFAULT),
});
const ROTATION_TEXT = `The body must be {} or {"graceSeconds": N} with N from 0 to ${GRACE_SECONDS_MAX}.`;

/** A token, without its secret. */
export interface TokenView {
  readonly name: string;
  readonly scopes: readonly Scope[];
  /** Names, or beginnings of names that end in `*`. None: every queue. */
  readonly queues: readonly string[];
  readonly expiresAt: string | null;
  readonly ratePerSecond: number | null;
  readonly createdAt: string;
  /** When it was created or rotated last. */
  readonly changedAt: string;
  /** Until when the secret from before its rotation is valid; `null` where there is none. */
  readonly oldSecretUntil: string | null;
  /** Id of the access key of AWS that the token is; `null` for any other token. */
  readonly accessKeyId: string | null;
}

/** A token that was created or rotated, with its secret, which is shown this once. */
export interface NewTokenView {
  readonly token: TokenView;
  /** Secret of the token; of an access key, the secret access key. */
  readonly secret: string;
}

/** Routes of the tokens that the broker keeps. */
export function tokenRoutes({ tokens }: QueueDirectory, authority: Authority): Hono {
  const app = new Hono();
  const changed = async (c: Context, reply: Promise<TokenReply>): Promise<TokenRecord> => {
    // Also after a failure: the change may have been made, and the tokens that this gateway has cached may be stale.
    const record = tokenIn(await reply.finally(() => authority.forgetTokens()));
    setChanged(c, record.name);
    return record;
  };

  app.get("/", async (c) => {
    const nowMs = Date.now();
    return c.json({ tokens: (await tokens.listTokens()).map((token) => viewOf(token, nowMs)) });
  });

  app.post("/", async (c) => {
    const {
      expiresInSeconds,
      ratePerSecond = null,
      aws,
      ...token
    } = await read(c, NEW_TOKEN, NEW_TOKEN_TEXT);
    if (isReservedActor(token.name)) {
      const why = `No token can have the name "${token.name}": the audit log calls another actor that, or it is a variable's.`;
      throw new AdminError(400, "reserved_name", why);
    }
    const { kept, secret } = await newSecret(aws ? "aws" : "bearer");
    const nowMs = Date.now();
    const expiresAtMs = expiresInSeconds === undefined ? null : nowMs + 1_000 * expiresInSeconds;
    const made = await changed(c, tokens.createToken({ ...token, secret: kept, expiresAtMs, ratePerSecond }));
    return c.json({ token: viewOf(made, nowMs), secret } satisfies NewTokenView);
  });

  app.delete("/:name", async (c) => {
    const { name } = await changed(c, tokens.deleteToken(c.req.param("name")));
    return c.json({ name, revoked: true });
  });

  app.post("/:name/rotate", async (c) => {
    const { graceSeconds } = await read(c, ROTATION, ROTATION_TEXT);
    const name = c.req.param("name");
    const before = (await tokens.listTokens()).find((token) => token.name === name);
    const { kept, secret } = await newSecret(before?.secret.kind ?? "bearer");
    const rotated = await changed(c, tokens.rotateToken(name, kept, 1_000 * graceSeconds));
    return c.json({ token: viewOf(rotated, Date.now()), secret } satisfies NewTokenView);
  });

  return app;
}

async function read<T>(c: Context, schema: z.ZodMiniType<T>, text: string): Promise<T> {
  const body = await bodyText(c);
  let json: unknown = null;
  try {
    json = body === "" ? {} : parseJson(body);
  } catch {
    // Refused as a body that is no object.
  }
  const result = schema.safeParse(json);
  if (!result.success) throw new AdminError(400, "invalid_body", text);
  return result.data;
}

function tokenIn(reply: TokenReply): TokenRecord {
  if (reply.ok) return reply.token;
  switch (reply.refusal) {
    case "nameTaken":
      throw new AdminError(409, "token_exists", "There is a token of that name: rotate it, or revoke it.");
    case "tooMany":
      throw new AdminError(409, "too_many_tokens", `There are ${TOKENS_MAX} tokens, which is the most.`);
    case "notFound":
      throw new AdminError(404, "token_not_found", "There is no token of that name.");
  }
}

function viewOf(token: TokenRecord, nowMs: number): TokenView {
  const { name, scopes, queues, expiresAtMs, ratePerSecond, createdAtMs, changedAtMs, previous } = token;
  return {
    name,
    scopes,
    queues,
    ratePerSecond,
    expiresAt: expiresAtMs === null ? null : timeOf(expiresAtMs),
    createdAt: timeOf(createdAtMs),
    changedAt: timeOf(changedAtMs),
    accessKeyId: token.secret.kind === "aws" ? token.secret.accessKeyId : null,
    oldSecretUntil: previous === null || previous.untilMs <= nowMs ? null : timeOf(previous.untilMs),
  };
}
