import { describe, expect, it } from "vitest";
import { AwsError, COMMON_ERRORS } from "../aws-error.ts";
import type { SignedRequest } from "../signature/credential.ts";
import { answerOf, errorAnswerOf, protocolOf, readCall, type ServiceModel } from "./service.ts";
import { flatList, flatMap, integer, string, structure } from "./shape.ts";

const MODEL: ServiceModel = {
  hasErrorDetail: true,
  targetPrefix: "AmazonSQS",
  namespace: "http://queue.amazonaws.com/doc/2012-11-05/",
  actions: {
    List: { input: structure({ Prefix: string }), output: structure({ Urls: flatList("Url", string) }) },
    Get: { input: structure({}), output: structure({ Attributes: flatMap("Attribute", string) }) },
    Delete: { input: structure({ Name: string }), output: null },
    Count: { input: structure({}), output: structure({ Id: string, Count: integer }) },
  },
};

function request(
  method: string,
  path: string,
  headers: Record<string, string> = {},
  body = "",
): SignedRequest {
  const url = new URL(path, "http://localhost:9324");
  return { method, url, headers: new Headers(headers), body: new TextEncoder().encode(body) };
}

const JSON_HEADERS = { "content-type": "application/x-amz-json-1.0", "x-amz-target": "AmazonSQS.List" };
const FORM = { "content-type": "application/x-www-form-urlencoded; charset=utf-8" };

it.each([
  ["json", { "content-type": "Application/X-Amz-Json-1.0; charset=utf-8" }],
  ["json", { "content-type": "application/x-amz-json-1.0" }],
  ["json", { "content-type": " APPLICATION/X-AMZ-JSON-1.0 " }],
  ["query", { "content-type": "" }],
  ["json", { "x-amz-target": "AmazonSQS.List" }],
  ["query", FORM],
  ["query", {}],
  ["query", { "x-amz-target": "AmazonSNS.List" }],
])("the protocol of a request is %s with %j", (protocol, headers) => {
  expect(protocolOf(request("POST", "/", headers), MODEL)).toBe(protocol);
});

describe("what a request asks for", () => {
  it.each([
    ["JSON on the root", request("POST", "/", JSON_HEADERS, '{"Prefix":"a"}'), "json"],
    ["JSON on a queue's URL", request("POST", "/000000000000/q", JSON_HEADERS, '{"Prefix":"a"}'), "json"],
    ["a form", request("POST", "/", FORM, "Action=List&Prefix=a"), "query"],
    ["a form without a content type", request("POST", "/", {}, "Action=List&Prefix=a"), "query"],
    ["a query string", request("GET", "/?Action=List&Prefix=a"), "query"],
  ])("is read from %s", (_name, signed, protocol) => {
    expect(readCall(signed, MODEL)).toEqual({ protocol, action: "List", input: { Prefix: "a" } });
  });

  it.each([
    ["Query", request("GET", "/?Action=FooBar")],
    ["JSON", request("POST", "/", { ...JSON_HEADERS, "x-amz-target": "AmazonSQS.FooBar" }, "{}")],
  ])("is refused by name when there is no such action: %s", (_name, signed) => {
    expect(() => readCall(signed, MODEL)).toThrow("The action FooBar is not valid for this endpoint.");
  });

  it("is refused without an action, with an element and nothing else", () => {
    const signed = request("GET", "/000000000000/q", { accept: "application/json" });
    const error = caught(() => readCall(signed, MODEL));
    expect(errorAnswerOf(MODEL, "query", error, "id")).toMatchObject({
      status: 404,
      body: "<UnknownOperationException/>",
    });
  });

  it("has no action by the name of what every object has", () => {
    expect(() => readCall(request("GET", "/?Action=constructor"), MODEL)).toThrow(
      "The action constructor is not valid",
    );
  });
});

describe("an answer in XML", () => {
  const answer = (action: string, output: object) =>
    answerOf(MODEL, { protocol: "query", action, input: {} }, output, "some-id").body;
  const document = (name: string, content: string) =>
    `<?xml version="1.0"?><${name} xmlns="${MODEL.namespace}">${content}` +
    `<ResponseMetadata><RequestId>some-id</RequestId></ResponseMetadata></${name}>`;

  it("repeats the element of a list", () => {
    expect(answer("List", { Urls: ["a", "b"] })).toBe(
      document("ListResponse", "<ListResult><Url>a</Url><Url>b</Url></ListResult>"),
    );
  });

  it("has an empty result where nothing is there, and none where the action has none", () => {
    expect(answer("List", { Urls: [] })).toBe(document("ListResponse", "<ListResult/>"));
    expect(answer("Delete", {})).toBe(document("DeleteResponse", ""));
  });

  it("escapes text so that a carriage return comes back", () => {
    expect(answer("Get", { Attributes: { a: '<&>"\r\n' } })).toContain(
      "<Attribute><Name>a</Name><Value>&lt;&amp;&gt;&quot;&#xD;\n</Value></Attribute>",
    );
  });

  it("writes ids and numbers as they are", () => {
    expect(answer("Count", { Id: "AQ-_+/=", Count: 0 })).toContain("<Id>AQ-_+/=</Id><Count>0</Count>");
  });

  it("keeps texts that look like numbers, and white space", () => {
    expect(answer("List", { Urls: ["0010", " a ", ""] })).toContain("<Url>0010</Url><Url> a </Url><Url/>");
  });
});

describe("an error", () => {
  const kind = {
    shape: "com.amazonaws.sqs#QueueDoesNotExist",
    code: "AWS.SimpleQueueService.NonExistentQueue",
    status: 400,
    fault: "Sender",
  } as const;

  it("has its shape in the body and its older code in a header in JSON", () => {
    expect(
      errorAnswerOf(MODEL, "json", new AwsError(kind, "The specified queue does not exist."), "id"),
    ).toEqual({
      status: 400,
      headers: {
        "content-type": "application/x-amz-json-1.0",
        "x-amzn-requestid": "id",
        "x-amzn-query-error": "AWS.SimpleQueueService.NonExistentQueue;Sender",
      },
      body: '{"__type":"com.amazonaws.sqs#QueueDoesNotExist","message":"The specified queue does not exist."}',
    });
  });

  it("has its older code and whose fault it is in XML", () => {
    expect(errorAnswerOf(MODEL, "query", new AwsError(kind, "a < b"), "id")).toEqual({
      status: 400,
      headers: { "content-type": "text/xml", "x-amzn-requestid": "id" },
      body:
        `<?xml version="1.0"?><ErrorResponse xmlns="${MODEL.namespace}"><Error><Type>Sender</Type>` +
        "<Code>AWS.SimpleQueueService.NonExistentQueue</Code><Message>a &lt; b</Message><Detail/></Error>" +
        "<RequestId>id</RequestId></ErrorResponse>",
    });
    const { body } = errorAnswerOf(
      { ...MODEL, hasErrorDetail: false },
      "query",
      new AwsError(kind, "x"),
      "id",
    );
    expect(body).toContain("<Message>x</Message></Error>");
  });
});

function caught(run: () => unknown): AwsError {
  try {
    run();
  } catch (error) {
    if (error instanceof AwsError) return error;
    throw error;
  }
  throw new Error(`nothing was thrown, ${COMMON_ERRORS.invalidAction.code} or the like was expected`);
}
