import { expect, it } from "vitest";
import { AwsError, COMMON_ERRORS } from "../aws-error.ts";
import { answerOf, errorAnswerOf, protocolOf, type ServiceModel } from "./service.ts";
import { blob, flatList, flatMap, integer, string, structure } from "./shape.ts";

const MODEL: ServiceModel = {
  hasErrorDetail: true,
  targetPrefix: "AmazonX",
  namespace: "http://x/",
  queryJsonNames: { Things: "things" },
  actions: {
    List: {
      input: structure({}),
      output: structure({
        Things: flatList("Thing", structure({ Id: string, Bytes: blob })),
        Attributes: flatMap("Attribute", string),
        Count: integer,
        NextToken: string,
      }),
    },
    Clear: { input: structure({}), output: null },
  },
};

function requestThatAccepts(accept: string, headers: Record<string, string> = {}) {
  return {
    method: "GET",
    url: new URL("http://x/"),
    headers: new Headers({ accept, ...headers }),
    body: new Uint8Array(),
  };
}

it.each([
  ["application/json", "query-json"],
  ["application/json, text/plain, */*", "query-json"],
  ["Application/JSON;q=1", "query-json"],
  ["text/xml, application/json", "query"],
  ["*/*", "query"],
])(
  "the Query protocol to who accepts JSON (spec sqs 1.3) is spoken with Accept: %s: %s",
  (accept, protocol) => {
    expect(protocolOf(requestThatAccepts(accept), MODEL)).toBe(protocol);
  },
);

it("the Query protocol to who accepts JSON (spec sqs 1.3) is no matter of AWS JSON, nor of a service that has no such answers", () => {
  const target = { "x-amz-target": "AmazonX.List" };
  expect(protocolOf(requestThatAccepts("application/json", target), MODEL)).toBe("json");
  const { queryJsonNames: _names, ...plain } = MODEL;
  expect(protocolOf(requestThatAccepts("application/json"), plain)).toBe("query");
});

const call = (action: string) => ({ protocol: "query-json" as const, action, input: {} });

it("the Query protocol to who accepts JSON (spec sqs 1.3) has lists, maps as lists of names and values, and null for what is not there", () => {
  const output = { Things: [{ Id: "a", Bytes: Uint8Array.of(0, 255) }], Attributes: { k: "v" }, Count: 1 };
  const answer = answerOf(MODEL, call("List"), output, "id");
  expect(answer.headers["content-type"]).toBe("application/json");
  expect(JSON.parse(answer.body)).toEqual({
    ListResponse: {
      ListResult: {
        things: [{ Id: "a", Bytes: "AP8=" }],
        Attributes: [{ Name: "k", Value: "v" }],
        Count: 1,
        NextToken: null,
      },
      ResponseMetadata: { RequestId: "id" },
    },
  });
  expect(
    JSON.parse(answerOf(MODEL, call("List"), { Things: [], Attributes: {} }, "id").body).ListResponse,
  ).toMatchObject({ ListResult: { things: null, Attributes: null } });
});

it("the Query protocol to who accepts JSON (spec sqs 1.3) has no result for an action that answers nothing", () => {
  expect(JSON.parse(answerOf(MODEL, call("Clear"), {}, "id").body)).toEqual({
    ClearResponse: { ResponseMetadata: { RequestId: "id" } },
  });
});

it("the Query protocol to who accepts JSON (spec sqs 1.3) has errors with a code and a message, and only an element for a request without an action", () => {
  const missing = new AwsError(COMMON_ERRORS.missingParameter, "It is missing.");
  const answer = errorAnswerOf(MODEL, "query-json", missing, "id");
  expect(answer.status).toBe(400);
  expect(JSON.parse(answer.body)).toEqual({
    Error: { Type: "Sender", Code: "MissingParameter", Message: "It is missing.", Detail: null },
    RequestId: "id",
  });
  const unknown = new AwsError(COMMON_ERRORS.unknownOperation, "");
  expect(errorAnswerOf(MODEL, "query-json", unknown, "id")).toMatchObject({
    headers: { "content-type": "text/xml" },
    body: "<UnknownOperationException/>",
  });
});
