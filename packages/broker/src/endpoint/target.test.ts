import { describe, expect, it } from "vitest";
import { refusalOfAddress, refusalOfTarget, targetRulesOf } from "./target.ts";

const PUBLIC_ONLY = { privateAllowed: false, allowedHosts: ["10.1.2.3", "jobs.internal:8080"] };

it.each([
  "https://shop.example/tasks",
  "http://shop.example:8080/",
  "http://8.8.8.8/",
  "http://100.63.255.255/",
  "http://100.128.0.0/",
  "http://172.15.0.1/",
  "http://172.32.0.1/",
  "http://192.0.1.1/",
  "http://198.17.0.1/",
  "http://223.255.255.255/",
  "http://[2606:4700::1111]/",
  "http://[64:ff9b::808:808]/",
  "http://[::ffff:8.8.8.8]/",
  "http://[2002:808:808::1]/",
  "http://[3fff:1000::1]/",
  "http://[3ffe:ffff::1]/",
  "http://svc.example/",
  "http://localhost.example./",
])("a public address %s may be called", (url) => {
  expect(refusalOfTarget(url, PUBLIC_ONLY)).toBeNull();
});

describe("an address of the broker's own network", () => {
  it.each([
    "http://localhost/",
    "http://localhost./",
    "http://localhost../",
    "http://127.0.0.1../",
    "http://localhost.localdomain/",
    "http://db.localdomain/",
    "http://kubernetes.default.svc/",
    "http://kubernetes.default.svc./",
    "http://shop.test/",
    "http://api.localhost:3000/",
    "http://printer.local/",
    "http://metadata.google.internal/",
    "http://intranet/",
    "http://0.0.0.0/",
    "http://10.1.2.4/",
    "http://127.0.0.1/",
    "http://127.1/",
    "http://2130706433/",
    "http://0x7f000001/",
    "http://0177.0.0.1/",
    "http://127.0.0.1./",
    "http://169.254.169.254/latest/meta-data/",
    "http://172.16.0.1/",
    "http://172.31.255.255/",
    "http://192.168.1.1/",
    "http://192.0.0.1/",
    "http://192.0.2.1/",
    "http://100.64.0.1/",
    "http://100.127.255.255/",
    "http://198.18.0.1/",
    "http://198.51.100.1/",
    "http://203.0.113.1/",
    "http://224.0.0.1/",
    "http://255.255.255.255/",
    "http://[::]/",
    "http://[::1]/",
    "http://[::ffff:127.0.0.1]/",
    "http://[::ffff:a00:1]/",
    "http://[::ffff:0:127.0.0.1]/",
    "http://[::7f00:1]/",
    "http://[64:ff9b::7f00:1]/",
    "http://[64:ff9b:1::1]/",
    "http://[2002:7f00:1::]/",
    "http://[2001::1]/",
    "http://[2001:db8::1]/",
    "http://[3fff::1]/",
    "http://[3fff:fff:ffff::1]/",
    "http://[64:ff9b:0:1::808:808]/",
    "http://[fc00::1]/",
    "http://[fd12:3456::1]/",
    "http://[fe80::1]/",
    "http://[ff02::1]/",
  ])("%s may not be called, but in development", (url) => {
    expect(refusalOfTarget(url, PUBLIC_ONLY)).toContain("is not public");
    expect(refusalOfTarget(url, { privateAllowed: true, allowedHosts: [] })).toBeNull();
  });

  it.each(["http://10.1.2.3/", "http://10.1.2.3:99/", "http://jobs.internal:8080/x"])(
    "%s may be called when it is listed",
    (url) => {
      expect(refusalOfTarget(url, PUBLIC_ONLY)).toBeNull();
    },
  );

  it("is not listed with another port", () => {
    expect(refusalOfTarget("http://jobs.internal:8081/", PUBLIC_ONLY)).toContain("is not public");
  });

  it("may be called at the default port of its scheme if it is listed with that port", () => {
    const rules = { privateAllowed: false, allowedHosts: ["10.1.2.3:80", "jobs.internal:443"] };
    const urls = ["http://10.1.2.3/", "http://10.1.2.3:80/", "https://jobs.internal./"];
    expect(urls.map((url) => refusalOfTarget(url, rules))).toEqual([null, null, null]);
    expect(refusalOfTarget("https://10.1.2.3/", rules)).toContain("is not public");
    expect(refusalOfTarget("http://jobs.internal/", rules)).toContain("is not public");
  });
});

describe("a public name", () => {
  const url = new URL("http://shop.example:8080/");

  it.each([
    "8.8.8.8",
    "100.63.255.255",
    "2606:4700::1111",
    "2606:4700:0:0:0:0:0:1111",
    "::ffff:8.8.8.8",
    "64:ff9b::8.8.8.8",
  ])("a public name may be called at %s", (address) => {
    expect(refusalOfAddress(url, address, PUBLIC_ONLY)).toBeNull();
  });

  it.each([
    "127.0.0.1",
    "10.0.0.1",
    "169.254.169.254",
    "0.0.0.0",
    "::1",
    "0:0:0:0:0:0:0:1",
    "::ffff:127.0.0.1",
    "::ffff:7f00:1",
    "fe80::1",
    "fe80::1%eth0",
    "2606:4700::1111%1",
    "fd00::1",
    "3fff::1",
    "64:ff9b::10.0.0.1",
    "nonsense",
    "",
  ])("may not be called at %s, unless it is listed, or in development", (address) => {
    expect(refusalOfAddress(url, address, PUBLIC_ONLY)).toContain(
      `"shop.example" is at ${address}, which is not public`,
    );
    expect(refusalOfAddress(url, address, { privateAllowed: true, allowedHosts: [] })).toBeNull();
    for (const listed of ["shop.example", "shop.example:8080"]) {
      expect(refusalOfAddress(url, address, { privateAllowed: false, allowedHosts: [listed] })).toBeNull();
    }
    expect(
      refusalOfAddress(url, address, { privateAllowed: false, allowedHosts: ["shop.example:80"] }),
    ).not.toBeNull();
  });
});

it.each([
  ["nonsense", "no URL"],
  ["ftp://shop.example/", "only http: and https:"],
  ["file:///etc/passwd", "only http: and https:"],
  ["https://me:secret@shop.example/", "a user and a password"],
])("%s is refused everywhere", (url, reason) => {
  expect(refusalOfTarget(url, { privateAllowed: true, allowedHosts: [] })).toContain(reason);
});

it("is set by the broker's environment variables", () => {
  expect(targetRulesOf({})).toEqual({ privateAllowed: false, allowedHosts: [] });
  expect(targetRulesOf({ SLUICE_PUSH_HOSTS: " A.internal, ,10.0.0.1:80 " }).allowedHosts).toEqual([
    "a.internal",
    "10.0.0.1:80",
  ]);
  expect(targetRulesOf({ SLUICE_ENV: "local" }).privateAllowed).toBe(true);
  expect(targetRulesOf({ SLUICE_ENV: "local", SLUICE_API_TOKENS: "secret" }).privateAllowed).toBe(false);
});
