import type { Context } from "hono";

/**
 * Reads the body of a request as text, whatever its content type says: workerd logs a warning for each body of another
 * one that `text()` reads, and `curl -d` sends forms.
 */
export async function bodyText({ req }: Context): Promise<string> {
  return new TextDecoder().decode(await req.arrayBuffer());
}
