import { Hono } from "hono";
import { type PageFile, readPageArchive } from "./page-archive.ts";

const DOCUMENT = "index.html";

/**
 * The page has buttons that delete messages, so no other page may frame it. It loads nothing from other sites, and its
 * scripts and styles are files of its own alone: the text of a message cannot become either.
 */
const DOCUMENT_HEADERS = {
  "Content-Security-Policy":
    "default-src 'none'; connect-src 'self'; img-src data:; style-src 'self'; script-src 'self'; " +
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  "Referrer-Policy": "no-referrer",
  "Cache-Control": "no-cache",
};
/** Headers of script and style, whose names change with their content. */
const ASSET_HEADERS = { "Cache-Control": "public, max-age=31536000, immutable" };
const COMMON_HEADERS = { "X-Content-Type-Options": "nosniff", Vary: "Accept-Encoding" };

/** Text at `/__sluice/` where the broker was built without the page. */
export const NO_PAGE =
  'This broker was built without its page: "sluice dev", "sluice serve" and "sluice build" give it one. ' +
  "Its API answers at /__sluice/api.\n";

/**
 * Routes of the page at `/__sluice/`: queues, topics, messages, and what happened to them, all of it read from the
 * admin API.
 *
 * @param archive made by `packages/dashboard/build.mjs`; `null` for a broker without the page.
 */
export function pageRoutes(archive: Uint8Array | ArrayBuffer | null): Hono {
  const app = new Hono();
  if (archive === null) {
    app.get("/", (c) => c.text(NO_PAGE, 503));
    return app;
  }
  const files = readPageArchive(archive);
  for (const file of files.values()) {
    const isDocument = file.name === DOCUMENT;
    const headers = {
      ...COMMON_HEADERS,
      ...(isDocument ? DOCUMENT_HEADERS : ASSET_HEADERS),
      "Content-Type": file.type,
    };
    // Under "wrangler dev" every request claims to take gzip. The document is small, and sent plain in any case.
    const takesGzip = (request: Request) =>
      !isDocument && /\bgzip\b/.test(request.headers.get("accept-encoding") ?? "");
    app.get(isDocument ? "/" : `/${file.name}`, (c) => answer(file, headers, takesGzip(c.req.raw)));
  }
  return app;
}

function answer({ compressed }: PageFile, headers: Record<string, string>, takesGzip: boolean): Response {
  if (takesGzip) {
    // "manual" tells workerd that the body is compressed already; Node.js takes it as it is.
    return new Response(compressed, {
      encodeBody: "manual",
      headers: { ...headers, "Content-Encoding": "gzip" },
    });
  }
  const plain = new Response(compressed).body?.pipeThrough(new DecompressionStream("gzip"));
  return new Response(plain ?? null, { headers });
}
