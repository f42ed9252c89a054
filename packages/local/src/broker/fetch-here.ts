import { request as requestByHttp } from "node:http";
import { request as requestByHttps } from "node:https";
import { text } from "node:stream/consumers";
import type { Fetch } from "./call-broker.ts";

/**
 * Calls a server of this machine, on a connection of its own. `fetch` refuses the certificate that Wrangler signs
 * itself with `--local-protocol https`.
 */
export const fetchHere: Fetch = (url, { method, headers, body, signal }) =>
  new Promise((resolve, reject) => {
    const send = url.startsWith("https:") ? requestByHttps : requestByHttp;
    const options = { method, headers, agent: false, rejectUnauthorized: false };
    send(url, signal === null ? options : { ...options, signal }, (response) => {
      const { statusCode: status = 0 } = response;
      text(response).then((read) => resolve(new Response(read || null, { status })), reject);
    })
      .on("error", reject)
      .end(body);
  });
