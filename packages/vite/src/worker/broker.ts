import { defineBroker as define } from "@sluice/broker-worker";

type Options = Parameters<typeof define>[0];
type Handler = ReturnType<typeof define>["handler"];
type Fetch = NonNullable<Handler["fetch"]>;

interface AccessEnv {
  /** Address of the variables by which the broker admits other machines; empty while only this machine reaches it. */
  readonly SLUICE_ACCESS_URL: string;
}

/**
 * Makes the broker that the generated entry imports. Vite may begin to listen for other machines after the broker's
 * start, so each request reads the access variables until there are some. Then the broker requires their tokens and
 * keys.
 *
 * `own` is for this Worker's own requests, which need none.
 */
export function defineBroker(options: Options) {
  const { handler: own, ...broker } = define(options);
  // A handler keeps the variables of its first request, so this one is for requests with access variables.
  const { handler: closed } = define(options);
  let access: Partial<Parameters<Fetch>[1]> | null = null;
  const fetch: Fetch = async (request, env, ctx) => {
    access ??= await readAccess(env as unknown as AccessEnv);
    const answered =
      access === null ? answer(own, request, env, ctx) : answer(closed, request, { ...env, ...access }, ctx);
    return ofOwnOrigin(await answered, request);
  };
  return { ...broker, own, handler: { fetch } };
}

function answer(handler: Handler, ...args: Parameters<Fetch>): Response | Promise<Response> {
  return handler.fetch?.(...args) ?? new Response(null, { status: 404 });
}

/**
 * Replaces the header that Vite's `server.cors` adds to every answer: no page of another site may read one, not even a
 * refusal.
 */
function ofOwnOrigin(answered: Response, { url }: Request): Response {
  const response = new Response(answered.body, answered);
  response.headers.set("access-control-allow-origin", new URL(url).origin);
  return response;
}

/** Reads the variables; returns `null` while there are none. */
async function readAccess({ SLUICE_ACCESS_URL: url }: AccessEnv): Promise<Record<string, string> | null> {
  const variables: Record<string, string> = await (await fetch(url)).json();
  return Object.keys(variables).length === 0 ? null : variables;
}
