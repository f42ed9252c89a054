import { callsPrivateHosts } from "@sluice/protocol";
import { describe, expect, it } from "vitest";
import { admit, admitInDevelopment, isLoopback, tokenIn } from "./admission.ts";

describe("an address", () => {
  it.each(["127.0.0.1", "127.1.2.3", "localhost", "::1"])("count %s as this machine's alone", (host) => {
    expect(isLoopback(host)).toBe(true);
  });

  it.each(["0.0.0.0", "::", "192.168.1.2", "127.0.0.1.example.com", "*"])(
    "count %s as everybody's",
    (host) => {
      expect(isLoopback(host)).toBe(false);
    },
  );
});

describe("a broker", () => {
  const KEYS = { SLUICE_AWS_ACCESS_KEYS: "AKIA:secret" };
  const LOCAL = { SLUICE_ENV: "local" };
  const PROXY = { SLUICE_PUBLIC_URL: "https://queues.example" };
  const here = "127.0.0.1";
  const everywhere = "0.0.0.0";

  it.each([
    [{}, here, "everybody", "everybody"],
    [{}, everywhere, "nobody", "nobody"],
    [LOCAL, everywhere, "everybody", "everybody"],
    [{ SLUICE_ENV: "development" }, everywhere, "everybody", "everybody"],
    [{ SLUICE_ENV: "production" }, here, "nobody", "nobody"],
    [{ SLUICE_API_TOKENS: "a,b" }, here, "known", "everybody"],
    [{ SLUICE_API_TOKENS: "a,b", ...LOCAL }, everywhere, "known", "everybody"],
    [{ SLUICE_API_TOKENS: " " }, here, "everybody", "everybody"],
    [KEYS, here, "nobody", "known"],
    [KEYS, everywhere, "nobody", "known"],
    [{ ...KEYS, ...LOCAL }, here, "everybody", "known"],
    [{ ...KEYS, SLUICE_ENV: "production" }, here, "nobody", "known"],
    [{ ...KEYS, SLUICE_API_TOKENS: "a" }, here, "known", "known"],
    [{ SLUICE_AWS_ACCESS_KEYS: "" }, here, "everybody", "everybody"],
    [PROXY, here, "nobody", "nobody"],
    [{ SLUICE_TRUST_PROXY: "true" }, here, "nobody", "nobody"],
    [{ SLUICE_PUBLIC_URL: "", SLUICE_TRUST_PROXY: "false" }, here, "everybody", "everybody"],
    [{ ...PROXY, ...LOCAL }, here, "everybody", "everybody"],
    [{ ...PROXY, SLUICE_API_TOKENS: "a" }, here, "known", "nobody"],
    [{ ...PROXY, ...KEYS }, here, "nobody", "known"],
  ])("with %o on %s is open by its HTTP APIs to %s, by its AWS endpoint to %s", (vars, host, http, aws) => {
    const admission = admit(vars, host, "own");
    expect([admission.http, admission.aws]).toEqual([http, aws]);
  });

  it.each([{}, KEYS, LOCAL, { SLUICE_ENV: "production" }])(
    "is local on this machine alone, unless a variable says otherwise: %o",
    (vars) => {
      expect(admit(vars, here, "own").vars.SLUICE_ENV).toBe(
        vars === LOCAL || !("SLUICE_ENV" in vars) ? "local" : "production",
      );
      expect(admit(vars, everywhere, "own").vars.SLUICE_ENV).toBe(Reflect.get(vars, "SLUICE_ENV"));
    },
  );

  it.each([
    [{}, everywhere],
    [PROXY, here],
    [{ SLUICE_API_TOKENS: "a,b", ...LOCAL }, here],
    [KEYS, here],
  ])("that is not open lets this process in by a token of its own: %o", (vars, host) => {
    const admission = admit(vars, host, "own");
    expect(admission.vars).toMatchObject({ ...vars, SLUICE_PROCESS_TOKEN: "own" });
    expect(admission.headers).toEqual({ authorization: "Bearer own" });
  });

  it.each([
    [{}, here, true],
    [{}, everywhere, false],
    [LOCAL, everywhere, true],
    [KEYS, here, false],
    [{ ...KEYS, ...LOCAL }, here, false],
    [{ SLUICE_API_TOKENS: "a" }, here, false],
    [PROXY, here, false],
    [{ ...PROXY, ...LOCAL }, here, false],
  ])("with %o on %s calls private addresses: %s", (vars, host, calls) => {
    expect(callsPrivateHosts(admit(vars, host, "own").vars)).toBe(calls);
  });

  it("that is open needs none", () => {
    expect(admit({}, here, "own")).toMatchObject({ vars: LOCAL, headers: {} });
  });
});

describe("a broker in development", () => {
  const KEYS = { SLUICE_AWS_ACCESS_KEYS: "AKIA:secret" };
  const TOKENS = { SLUICE_API_TOKENS: "a, b" };

  it.each([
    [{}, "localhost", "everybody", "everybody", null, null],
    [{}, "0.0.0.0", "known", "known", "made", "SLUICE:made"],
    [{}, "192.168.1.2", "known", "known", "made", "SLUICE:made"],
    [{ SLUICE_ENV: "production" }, "::", "known", "known", "made", "SLUICE:made"],
    [{ SLUICE_ENV: "local" }, "0.0.0.0", "everybody", "everybody", null, null],
    [TOKENS, "0.0.0.0", "known", "known", "a", "SLUICE:made"],
    [TOKENS, "127.0.0.1", "known", "everybody", "a", null],
    [{ SLUICE_API_TOKENS: " " }, "0.0.0.0", "known", "known", "made", "SLUICE:made"],
    [{ SLUICE_API_TOKENS: " , " }, "0.0.0.0", "known", "known", "made", "SLUICE:made"],
    [{ SLUICE_API_TOKENS: ",a" }, "127.0.0.1", "known", "everybody", "a", null],
    [KEYS, "0.0.0.0", "known", "known", "made", "AKIA:secret"],
    [KEYS, "127.0.0.1", "everybody", "known", null, "AKIA:secret"],
    [{ ...KEYS, ...TOKENS }, "0.0.0.0", "known", "known", "a", "AKIA:secret"],
  ])("with %o on %s lets in %s by HTTP, %s as AWS's clients", (vars, host, http, aws, token, keys) => {
    const admission = admitInDevelopment(vars, host, "made");
    expect([admission.http, admission.aws]).toEqual([http, aws]);
    expect(tokenIn(admission)).toBe(token);
    expect(admission.vars.SLUICE_AWS_ACCESS_KEYS ?? null).toBe(keys);
    expect(admission.vars.SLUICE_ENV).toBe("development");
    expect(admission.made?.token ?? null).toBe(token === "made" ? "made" : null);
    expect(admission.made?.key ?? null).toEqual(
      keys === "SLUICE:made" ? { id: "SLUICE", secret: "made" } : null,
    );
  });
});
