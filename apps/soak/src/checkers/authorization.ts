import { answers } from "../actors/endpoint-authorization.ts";
import type { Checker } from "./checker.ts";

/**
 * Credentials are shown to an endpoint that has asked for them, to nobody else, and once for each time that it asks: the answer
 * is to its own last challenge (spec sns-delivery 8.1).
 */
export const authorization: Checker = {
  property: "authorization",

  requested(_queue, { tag, url, authorization: given, challenge, credentials }) {
    if (challenge === null) {
      return given === null
        ? undefined
        : `the request of message ${tag} shows credentials that nobody has asked for`;
    }
    if (credentials === null || given === null) {
      return `the request of message ${tag} is made again without credentials`;
    }
    if (answers(given, challenge, credentials, url)) return undefined;
    return `the request of message ${tag} does not answer ${challenge.header} with ${given}`;
  },
};
