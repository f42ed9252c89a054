import { expect, it } from "vitest";
import { isAuthority, isTarget } from "./bounded-server.ts";

it.each([
  "a",
  "localhost:8787",
  "queues_1.example.com:65535",
  "127.0.0.1:1",
  "[::1]",
  "[::1]:80",
  "[::ffff:1.2.3.4]:80",
])("%s is the authority of a URL", (host) => {
  expect(isAuthority(host)).toBe(true);
});

it.each([
  "",
  "a:65536",
  "a:99999",
  "a:",
  "a:b",
  ":80",
  "a b",
  "a/b",
  "a?b",
  "user@a",
  "1.2.3.400",
  "1.2.3.4.5",
  "[::g]",
  "[::1",
  "::1",
])("%s is none", (host) => {
  expect(isAuthority(host)).toBe(false);
});

it.each([
  ["/", true],
  ["/x?y", true],
  ["http://a/x", true],
  ["HTTPS://a/x", true],
  ["", false],
  ["*", false],
  ["ftp://a/x", false],
])("%j is the target of a request: %s", (url, isOne) => {
  expect(isTarget(url)).toBe(isOne);
});
