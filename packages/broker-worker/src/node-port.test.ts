import { createPrivateKey } from "node:crypto";
import { getCACertificates, setDefaultCACertificates } from "node:tls";
import type { EndpointPort, TargetRules } from "@sluice/broker";
import { startDeafEndpoint } from "@sluice/broker/testing/http-endpoint";
import { createSigningIdentity } from "@sluice/sns";
import { describe, expect, it, onTestFinished } from "vitest";
import { endpointPortSuite, requestTo, server } from "../../../apps/broker/test/endpoint-port-suite.ts";
import { answer } from "../../../apps/broker/test/raw-server.ts";
import { checkedLookup } from "./node-lookup.ts";
import { createNodePort } from "./node-port.ts";

/** Servers of these tests are on this machine. */
const EVERYWHERE = { privateAllowed: true, allowedHosts: [] };

endpointPortSuite("an endpoint, from Node.js,", async () => {
  const port = createNodePort(EVERYWHERE);
  return { port, stop: () => port.close() };
});

function portForTest(): EndpointPort {
  const port = createNodePort(EVERYWHERE);
  onTestFinished(() => port.close());
  return port;
}

/** A server, and a port that has a connection to it. */
async function connected() {
  const there = await server();
  const port = portForTest();
  await port.post(requestTo(there.url));
  return { there, port };
}

const ANSWERED = { kind: "answered", status: 200 };

describe("a request from Node.js", () => {
  it("has only the given headers, and those that HTTP needs", async () => {
    const there = await server();
    await portForTest().post(requestTo(there.url, { headers: { "x-any": "1" }, body: new Uint8Array(3) }));
    expect(there.requests[0]?.headers).toEqual([
      ["x-any", "1"],
      ["content-length", "3"],
      ["Host", new URL(there.url).host],
      ["Connection", "keep-alive"],
    ]);
  });

  it.each([
    ["transfer-encoding", "content-length"],
    ["Transfer-Encoding", "Content-Length"],
  ])("is framed by its length, for headers %s and %s too", async (encoding, length) => {
    const there = await server();
    const headers = { [encoding]: "chunked", [length]: "7" };
    const request = requestTo(there.url, { headers, body: new Uint8Array(3) });
    expect(await portForTest().post(request)).toMatchObject(ANSWERED);
    const [received] = there.requests;
    expect(received?.body).toHaveLength(3);
    const names = received?.headers.map(([name]) => name.toLowerCase());
    expect(names).not.toContain("transfer-encoding");
    expect(names?.filter((name) => name === "content-length")).toHaveLength(1);
  });

  it("with an invalid header is not made, and says why", async () => {
    const there = await server();
    const outcome = await portForTest().post(requestTo(there.url, { headers: { "x-any": "a\nb" } }));
    expect(outcome).toEqual({ kind: "unreachable", reason: expect.stringContaining('["x-any"]') });
    expect(there.connections).toBe(0);
  });

  it("without a connection is unreachable, not late, after either time limit", async () => {
    const deaf = await startDeafEndpoint();
    onTestFinished(async () => void (await deaf.close()));
    const port = portForTest();
    for (const [connectTimeoutMs, responseTimeoutMs] of [
      [200, 10_000],
      [200, 200],
      // Far apart, because of two late timers either one may fire first.
      [10_000, 200],
      [null, 200],
    ] as const) {
      const request = requestTo(`http://127.0.0.1:${deaf.port}/`, { connectTimeoutMs, responseTimeoutMs });
      expect(await port.post(request)).toEqual({ kind: "unreachable", reason: "no connection within 0.2 s" });
    }
  });

  it("with a connection is closed, or late: the time to connect does not count any more", async () => {
    const there = await server();
    there.on = (_, socket) => void setTimeout(() => socket.write(answer(200)), 150);
    const port = portForTest();
    const times = { connectTimeoutMs: 50, responseTimeoutMs: 10_000 };
    // The second request has a kept connection.
    for (let i = 0; i < 2; i++) expect(await port.post(requestTo(there.url, times))).toMatchObject(ANSWERED);
    expect(there.connections).toBe(1);
  });

  it.each([
    ["no HTTP at all", "nonsense\r\n\r\n"],
    ["a head without an end", `HTTP/1.1 200 OK\r\nx: ${"y".repeat(70_000)}`],
  ])("is closed by an answer that is %s", async (_, bytes) => {
    const there = await server();
    there.on = (_request, socket) => socket.write(bytes);
    const outcome = await portForTest().post(requestTo(there.url));
    expect(outcome).toMatchObject({
      kind: "closed",
      reason: expect.stringMatching(/^its answer is no HTTP \(HPE_/),
    });
    await there.ended(1);
  });

  it("is closed by an answer that breaks off", async () => {
    const there = await server();
    there.on = (_, socket) => socket.end("HTTP/1.1 200 OK\r\nx: ");
    const outcome = await portForTest().post(requestTo(there.url));
    expect(outcome).toMatchObject({
      kind: "closed",
      reason: expect.stringMatching(/^its answer breaks off \(/),
    });
  });

  it("is answered after an interim answer only by the final one, but by 101 at once", async () => {
    const there = await server();
    there.on = (_, socket) => socket.write(`HTTP/1.1 103 Early\r\nlink: </a>\r\n\r\n${answer(202)}`);
    expect(await portForTest().post(requestTo(there.url))).toMatchObject({ kind: "answered", status: 202 });
    there.on = (_, socket) =>
      socket.write("HTTP/1.1 101 Switching\r\nconnection: upgrade\r\nupgrade: any\r\n\r\n");
    expect(await portForTest().post(requestTo(there.url))).toMatchObject({ kind: "answered", status: 101 });
    await there.ended(2);
  });
});

describe("connections from Node.js", () => {
  it("are kept for the next request, and each serves one request at a time", async () => {
    const there = await server();
    const port = portForTest();
    for (let i = 0; i < 3; i++) await port.post(requestTo(there.url));
    expect(there.connections).toBe(1);
    there.on = (_, socket) => {
      if (there.requests.length === 6) for (const each of waiting) each();
      waiting.push(() => socket.write(answer(200)));
      if (there.requests.length === 6) waiting.at(-1)?.();
    };
    const waiting: (() => void)[] = [];
    await Promise.all([1, 2, 3].map(() => port.post(requestTo(there.url))));
    expect(there.connections).toBe(3);
  });

  it.each([
    [65_535, 1],
    [65_536, 1],
    [65_537, 2],
  ])("are kept after a short answer: for %i bytes they are %i", async (bytes, connections) => {
    const there = await server();
    there.on = (_, socket) => socket.write(answer(200, {}, "x".repeat(bytes)));
    const port = portForTest();
    await port.post(requestTo(there.url));
    // After three answers of another server the port has read its part of the answer.
    const other = await server();
    for (let i = 0; i < 3; i++) await port.post(requestTo(other.url));
    await port.post(requestTo(there.url));
    expect(there.connections).toBe(connections);
  });

  it("are kept after an answer that is to be whole, however long it is", async () => {
    const there = await server();
    there.on = (_, socket) => socket.write(answer(200, {}, "x".repeat(200_000)));
    const port = portForTest();
    const request = requestTo(there.url, { wholeAnswerTimeoutMs: 30_000 });
    for (let i = 0; i < 2; i++) expect(await port.post(request)).toMatchObject(ANSWERED);
    expect(there.connections).toBe(1);
  });

  it("that end without a byte count as old: the request is repeated once on a new one", async () => {
    const { there, port } = await connected();
    there.on = ({ connection }, socket) => (connection === 1 ? socket.destroy() : socket.write(answer(202)));
    const again = await port.post(requestTo(there.url, { body: new Uint8Array([1, 2]) }));
    expect(again).toMatchObject({ kind: "answered", status: 202 });
    expect(there.requests.map(({ connection, body }) => [connection, body.length])).toEqual([
      [1, 0],
      [1, 2],
      [2, 2],
    ]);
  });

  it("that end again are not old: the outcome says that the request was made twice", async () => {
    const { there, port } = await connected();
    there.on = (_, socket) => socket.destroy();
    expect(await port.post(requestTo(there.url))).toMatchObject({ kind: "closed", isRepeated: true });
    expect(there.requests).toHaveLength(3);
  });

  it("that end when a request brings the server down are closed, not unreachable", async () => {
    const { there, port } = await connected();
    there.on = () => void there.close();
    expect(await port.post(requestTo(there.url))).toMatchObject({ kind: "closed", isRepeated: true });
  });

  it("that end after the first byte of an answer, or are new, count as seen: the request is not repeated", async () => {
    const { there, port } = await connected();
    there.on = (_, socket) => void socket.end("H");
    expect(await port.post(requestTo(there.url))).toMatchObject({ kind: "closed", isRepeated: false });
    there.on = (_, socket) => socket.destroy();
    expect(await port.post(requestTo(there.url))).toMatchObject({ kind: "closed", isRepeated: false });
    expect(there.requests).toHaveLength(3);
  });

  it("end with the port, and so do their requests", async () => {
    const there = await server();
    there.on = ({ line }, socket) => {
      if (line.includes("/slow")) port.close();
      else socket.write(answer(200));
    };
    const port = createNodePort(EVERYWHERE);
    await port.post(requestTo(there.url));
    expect(await port.post(requestTo(`${there.url}slow`))).toMatchObject({ kind: "closed" });
    await there.ended(1);
    expect(await port.post(requestTo(there.url))).toMatchObject({ kind: "unreachable" });
    expect(there.requests).toHaveLength(2);
  });
});

describe("a name that is called from Node.js", () => {
  const PUBLIC_ONLY = { privateAllowed: false, allowedHosts: ["listed.example"] };
  /** Makes a port for which each name has these addresses, one after the other. */
  const portWith = (rules: TargetRules, ...answers: string[][]) => {
    const resolved: string[] = [];
    const port = createNodePort(rules, async (hostname) => {
      const addresses = answers[Math.min(resolved.length, answers.length - 1)] ?? [];
      resolved.push(hostname);
      return addresses.map((address) => ({ address, family: address.includes(":") ? 6 : 4 }));
    });
    onTestFinished(() => port.close());
    return { port, resolved };
  };
  const named = (url: string, name: string) => url.replace("127.0.0.1", name);

  it.each([["127.0.0.1"], ["::1"], ["::ffff:127.0.0.1"], ["10.0.0.1", "127.0.0.1"], ["fe80::1%lo"]])(
    "is not connected to at %s, with the reason",
    async (...addresses) => {
      const there = await server();
      const { port } = portWith(PUBLIC_ONLY, addresses);
      const url = named(there.url, "shop.example");
      expect(await port.post(requestTo(url))).toEqual({
        kind: "unreachable",
        reason: expect.stringContaining(`"shop.example" is at ${addresses[0]}, which is not public`),
        isRefused: true,
      });
      expect(await port.post(requestTo(url.replace("http:", "https:")))).toMatchObject({
        kind: "unreachable",
      });
      for (const path of [null, "/ready"]) expect(await port.isReady(url, path, 30_000)).toBe(false);
      expect(there.connections).toBe(0);
    },
  );

  it("is called at any address if it is listed, or in development", async () => {
    const there = await server();
    for (const [rules, name] of [
      [PUBLIC_ONLY, "listed.example"],
      [EVERYWHERE, "shop.example"],
    ] as const) {
      const { port, resolved } = portWith(rules, ["127.0.0.1"]);
      expect(await port.post(requestTo(named(there.url, name)))).toMatchObject(ANSWERED);
      expect(resolved).toEqual([name]);
    }
  });

  it("is called at the address that was checked, without a second lookup", async () => {
    const there = await server();
    const { port, resolved } = portWith(PUBLIC_ONLY, ["192.0.2.1", "8.8.8.8"], ["127.0.0.1"]);
    const request = requestTo(named(there.url, "shop.example"), {
      connectTimeoutMs: 50,
      responseTimeoutMs: 100,
    });
    // The private address that comes second is never looked up.
    expect(await port.post(request)).toMatchObject({ kind: "unreachable" });
    expect([resolved, there.connections]).toEqual([["shop.example"], 0]);
    // A new connection is checked again.
    expect(await port.post(request)).toMatchObject({ reason: expect.stringContaining("is at 127.0.0.1") });
    expect(there.connections).toBe(0);
  });

  it("is not looked up for an address that may not be called", async () => {
    const there = await server();
    const { port } = portWith(PUBLIC_ONLY);
    expect(await port.post(requestTo(there.url))).toMatchObject({
      kind: "unreachable",
      reason: expect.stringContaining('"127.0.0.1" is not public'),
    });
    expect(there.connections).toBe(0);
  });

  it("is called at its public addresses only", async () => {
    const url = new URL("http://shop.example/");
    const addresses = [
      { address: "10.0.0.1", family: 4 },
      { address: "8.8.8.8", family: 4 },
      { address: "2606:4700::1111", family: 6 },
    ];
    const lookup = checkedLookup(url, PUBLIC_ONLY, async () => addresses);
    const all = await new Promise((resolve) =>
      lookup("shop.example", { all: true }, (...said) => resolve(said)),
    );
    expect(all).toEqual([null, addresses.slice(1)]);
    const one = await new Promise((resolve) => lookup("shop.example", {}, (...said) => resolve(said)));
    expect(one).toEqual([null, "8.8.8.8", 4]);
  });

  it("that is unknown is unreachable", async () => {
    const failing = createNodePort(PUBLIC_ONLY, () =>
      Promise.reject(Object.assign(new Error("?"), { code: "ENOTFOUND" })),
    );
    onTestFinished(() => failing.close());
    expect(await failing.post(requestTo("http://shop.example/"))).toMatchObject({
      reason: "it cannot be reached (ENOTFOUND)",
    });
  });
});

describe("TLS from Node.js", () => {
  it("is spoken with a server that has a trusted certificate of that name, over kept connections", async () => {
    const tls = await selfSigned();
    trust(tls.cert);
    const there = await server({ tls });
    const port = portForTest();
    // The only name in the certificate.
    const headers = { host: "sluice" };
    for (let i = 0; i < 2; i++) {
      expect(await port.post(requestTo(there.url, { headers, body: new Uint8Array(3) }))).toMatchObject(
        ANSWERED,
      );
    }
    expect(there.connections).toBe(1);
    const other = await port.post(requestTo(there.url));
    expect(other).toEqual({
      kind: "unreachable",
      reason: "it cannot be reached (ERR_TLS_CERT_ALTNAME_INVALID)",
    });
    expect(there.requests).toHaveLength(2);
  });

  it("makes a server with an untrusted certificate unreachable, and nothing is sent", async () => {
    const there = await server({ tls: await selfSigned() });
    const outcome = await portForTest().post(requestTo(there.url));
    expect(outcome).toEqual({
      kind: "unreachable",
      reason: "it cannot be reached (DEPTH_ZERO_SELF_SIGNED_CERT)",
    });
    expect(there.requests).toEqual([]);
  });

  it("makes a server without TLS unreachable, within the time for a connection", async () => {
    const plain = await server();
    plain.on = () => {};
    const url = plain.url.replace("http:", "https:");
    const outcome = await portForTest().post(requestTo(url, { connectTimeoutMs: 200 }));
    expect(outcome).toEqual({ kind: "unreachable", reason: "no connection within 0.2 s" });
  });
});

function trust(certificate: string): void {
  const before = getCACertificates("default");
  onTestFinished(() => setDefaultCACertificates(before));
  setDefaultCACertificates([...before, certificate]);
}

async function selfSigned() {
  const { privateKeyPkcs8, certificatePem } = await createSigningIdentity(Date.now());
  const key = createPrivateKey({ key: Buffer.from(privateKeyPkcs8, "base64"), format: "der", type: "pkcs8" });
  return { key: key.export({ format: "pem", type: "pkcs8" }), cert: certificatePem };
}
