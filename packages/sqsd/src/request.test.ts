import { uuidOf } from "@sluice/aws";
import { describe, expect, it } from "vitest";
import type { DaemonMessage } from "./message.ts";
import { daemonRequest, withPath } from "./request.ts";

const MESSAGE: DaemonMessage = {
  id: uuidOf("0123456789abcdef0123456789abcdef"),
  body: new TextEncoder().encode('{"job":1}'),
  attributes: {},
  receiveCount: 3,
  firstReceivedMs: Date.UTC(2019, 10, 14, 0, 47, 0, 999),
  sentMs: Date.UTC(2019, 10, 14, 0, 46, 59),
  senderId: "000000000000",
  task: null,
  path: null,
};
const SETTINGS = { url: "http://localhost:80/work", contentType: "application/json", queue: "jobs" };

const requestOf = (change: Partial<DaemonMessage>) => daemonRequest({ ...MESSAGE, ...change }, SETTINGS);
const string = (StringValue: string, DataType = "String") => ({ DataType, StringValue });

describe("the POST of a message (spec sqsd 4.1)", () => {
  it("has its body and these headers", () => {
    const { url, headers, body } = requestOf({});
    expect(url).toBe("http://localhost/work");
    expect(body).toBe(MESSAGE.body);
    expect(headers).toEqual({
      "Content-Type": "application/json",
      "User-Agent": expect.stringMatching(/^aws-sqsd\/\d/),
      "Accept-Encoding": "gzip, compressed",
      "X-Aws-Sqsd-Msgid": "01234567-89ab-cdef-0123-456789abcdef",
      "X-Aws-Sqsd-Queue": "jobs",
      "X-Aws-Sqsd-Receive-Count": "3",
      "X-Aws-Sqsd-First-Received-At": "2019-11-14T00:47:00Z",
      "X-Aws-Sqsd-Sent-At": "2019-11-14T00:46:59Z",
      "X-Aws-Sqsd-Path": "/work",
      "X-Aws-Sqsd-Sender-Id": "000000000000",
    });
  });

  it("has a header for each String and Number attribute, whatever their label, and none for Binary", () => {
    const { headers, dropped } = requestOf({
      attributes: {
        Origin: string("AEJ"),
        "a.b-c_d": string("5", "Number.int"),
        Custom: string("x", "String.foo"),
        Bytes: { DataType: "Binary", BinaryValue: Uint8Array.of(1) },
      },
    });
    expect(headers).toMatchObject({
      "X-Aws-Sqsd-Attr-Origin": "AEJ",
      "X-Aws-Sqsd-Attr-a.b-c_d": "5",
      "X-Aws-Sqsd-Attr-Custom": "x",
    });
    expect(Object.keys(headers).filter((name) => name.includes("Bytes"))).toEqual([]);
    expect(dropped).toEqual([expect.stringContaining('"Bytes" is of the type Binary')]);
  });

  it("passes no attribute of its own on", () => {
    const { headers, dropped } = requestOf({ attributes: { "beanstalk.sqsd.path": string("/admin") } });
    expect(headers).toEqual(requestOf({}).headers);
    expect(dropped).toEqual([]);
  });

  it("drops the second of two attributes whose names differ in case only", () => {
    const { headers, dropped } = requestOf({ attributes: { Origin: string("1"), ORIGIN: string("2") } });
    expect(headers["X-Aws-Sqsd-Attr-Origin"]).toBe("1");
    expect(headers).not.toHaveProperty("X-Aws-Sqsd-Attr-ORIGIN");
    expect(dropped).toHaveLength(1);
  });

  it.each(["größe", "件数", "a b", "a:b"])("drops an attribute whose name no header can have: %j", (name) => {
    const { headers, dropped } = requestOf({ attributes: { [name]: string("1") } });
    expect(headers).toEqual(requestOf({}).headers);
    expect(dropped).toEqual([expect.stringContaining(name)]);
  });

  it.each(["a\r\nSet-Cookie: x", "a\nb", "a\rb", "a\0b", "a\x7fb", "a\x01b"])(
    "drops a value that no header can have: %j",
    (value) => {
      const { headers, dropped } = requestOf({ attributes: { Origin: string(value) } });
      expect(headers).toEqual(requestOf({}).headers);
      expect(dropped).toHaveLength(1);
    },
  );

  it("sends values in UTF-8, one character for each byte", () => {
    const value = requestOf({ attributes: { Name: string("Zoë €") } }).headers["X-Aws-Sqsd-Attr-Name"] ?? "";
    expect(new Headers({ name: value }).get("name")).toBe(value);
    const bytes = Uint8Array.from(value, (char) => char.charCodeAt(0));
    expect(new TextDecoder().decode(bytes)).toBe("Zoë €");
  });

  it("the POST of a message of a periodic task goes to the task's path, without a body", () => {
    const task = { name: "nightly", url: "/tasks/nightly", scheduledMs: Date.UTC(2017, 2, 22, 23, 10) };
    const { url, headers, body } = requestOf({ task });
    expect(url).toBe("http://localhost/tasks/nightly");
    expect(body).toHaveLength(0);
    expect(headers).toMatchObject({
      "Content-Type": "application/json",
      "X-Aws-Sqsd-Path": "/tasks/nightly",
      "X-Aws-Sqsd-Taskname": "nightly",
      "X-Aws-Sqsd-Scheduled-At": "2017-03-22T23:10:00Z",
    });
  });
});

it("a path without a time is no task: it goes where all do, and is only shown", () => {
  const { url, headers, body } = requestOf({ path: "/reports" });
  expect(url).toBe("http://localhost/work");
  expect(headers["X-Aws-Sqsd-Path"]).toBe("/reports");
  expect(headers).not.toHaveProperty("X-Aws-Sqsd-Taskname");
  expect(body).toBe(MESSAGE.body);
});

it.each([
  ["/a", "http://shop.example:8080/a"],
  ["a?b=c", "http://shop.example:8080/a?b=c"],
  ["//evil.example/", "http://shop.example:8080//evil.example/"],
  ["/\\evil.example", "http://shop.example:8080//evil.example"],
])("the path %s stays with the application", (path, url) => {
  expect(withPath("http://shop.example:8080/work", path)).toBe(url);
});
