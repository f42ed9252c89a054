import { expect, it } from "vitest";
import { accessLines } from "./addresses.ts";

it("says who may use what of a broker that is open to its machine", () => {
  expect(
    accessLines({ aws: "everybody", http: "everybody", vars: { SLUICE_ENV: "local" } }, "127.0.0.1"),
  ).toBe(`Open to
  AWS endpoint                 every program of this machine
  REST and admin API, metrics  every program of this machine
  health, page without data    every program of this machine
HTTP endpoints are called at any address, private ones too`);
});

it("says what to bring, and what to set where nobody is let in", () => {
  const nobody =
    "nobody; set SLUICE_API_TOKENS, or SLUICE_ENV=local to let in everybody who reaches this address";
  expect(accessLines({ aws: "known", http: "nobody", vars: {} }, "0.0.0.0")).toBe(`Open to
  AWS endpoint                 who signs with one of SLUICE_AWS_ACCESS_KEYS
  REST and admin API, metrics  ${nobody}
  health, page without data    everybody who reaches this address
HTTP endpoints are called at public addresses, and the hosts of SLUICE_PUSH_HOSTS`);
  const closed = accessLines({ aws: "nobody", http: "known", vars: {} }, "::");
  expect(closed).toContain("nobody; set SLUICE_AWS_ACCESS_KEYS, or");
  expect(closed).toContain("who brings one of SLUICE_API_TOKENS");
});
