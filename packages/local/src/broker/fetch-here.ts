import { request as requestByHttps } from "node:https";
import { text } from "node:stream/consumers";
import { request as requestByHttp } from "../http/node-http.ts";
import type { Answer, Fetch } from "./call-broker.ts";

/**
 * Calls a server of this machine, on a connection of its own, with any certificate: `fetch` refuses the self-signed one
 * of `wrangler dev --local-protocol https`.
 */
export const fetchHere: Fetch<Answer> = (url, { method, headers, body, signal }) =>
  new Promise((resolve, reject) => {
    const send = url.startsWith("https:") ? requestByHttps : requestByHttp;
    const options = { method, headers, agent: false, rejectUnauthorized: false };
    send(url, signal === null ? options : { ...options, signal }, (response) => {
      const { statusCode: status = 0 } = response;
      text(response).then((read) => resolve(answerOf(status, read)), reject);
    })
      .on("error", reject)
      .end(body);
  });

function answerOf(status: number, read: string): Answer {
  return {
    status,
    ok: status >= 200 && status < 300,
    text: async () => read,
    json: async () => JSON.parse(read),
  };
}
