import { expect, it } from "vitest";
import { accessLines, dashboardLinks } from "./addresses.ts";

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
    "nobody but who brings a token that the broker keeps (sluice tokens); set SLUICE_API_TOKENS, or " +
    "SLUICE_ENV=local to let in everybody who reaches this address";
  expect(accessLines({ aws: "known", http: "nobody", vars: {} }, "0.0.0.0")).toBe(`Open to
  AWS endpoint                 who signs with one of SLUICE_AWS_ACCESS_KEYS, or one that the broker keeps
  REST and admin API, metrics  ${nobody}
  health, page without data    everybody who reaches this address
HTTP endpoints are called at public addresses, and the hosts of SLUICE_PUSH_HOSTS`);
  const closed = accessLines({ aws: "nobody", http: "known", vars: {} }, "::");
  expect(closed).toContain(
    "nobody but who signs with a key that the broker keeps (sluice tokens); set SLUICE_AWS_ACCESS_KEYS, or",
  );
  expect(closed).toContain("who brings one of SLUICE_API_TOKENS, or one that the broker keeps\n");
});

it.each([{ SLUICE_PUBLIC_URL: "https://queues.example" }, { SLUICE_TRUST_PROXY: "true" }])(
  "says that a proxy leads others to a broker of this machine with %o",
  (vars) => {
    const open = accessLines({ aws: "everybody", http: "everybody", vars }, "127.0.0.1");
    expect(open).toContain("AWS endpoint                 everybody who reaches the proxy");
    expect(open).not.toContain("nobody");
    const closed = accessLines({ aws: "nobody", http: "nobody", vars }, "127.0.0.1");
    expect(closed).toMatch(
      /^A proxy leads others here, .+ so nobody is let in for being on this machine\.\n/,
    );
    expect(closed).toContain("SLUICE_ENV=local to let in everybody who reaches the proxy");
    expect(closed).toContain("health, page without data    everybody who reaches the proxy");
    expect(closed).toContain("HTTP endpoints are called at public addresses, and");
  },
);

it("shows what was made for those whom other machines must not be taken for", () => {
  const made = { token: "t0ken", key: { id: "SLUICE", secret: "s3cret" } };
  const text = accessLines({ aws: "known", http: "known", vars: { SLUICE_ENV: "development" }, made }, "::");
  expect(text).toMatch(/^Other machines reach this address, .+ until the end of this process/);
  expect(text).toContain(`Open to
  AWS endpoint                 who signs with the key SLUICE and the secret s3cret
  REST and admin API, metrics  who brings the token t0ken
  health, page without data    everybody who reaches this address`);
  const some = accessLines({ aws: "known", http: "known", vars: {}, made: { ...made, token: null } }, "::");
  expect(some).toContain("who brings one of SLUICE_API_TOKENS");
});

const NETWORKS = {
  lo: [{ family: "IPv4", internal: true, address: "127.0.0.1" }],
  eth0: [
    { family: "IPv6", internal: false, address: "fe80::1" },
    { family: "IPv4", internal: false, address: "192.168.1.7" },
  ],
};

it("links to the dashboard with the token where a browser tells it nobody", () => {
  const linksOf = (url: string, host: string) => dashboardLinks(url, "a/b", { host, networks: NETWORKS });
  const here = "Dashboard: http://localhost:8787/__sluice/#token=a%2Fb";
  for (const host of ["0.0.0.0", "::", "*"]) {
    expect(linksOf("http://localhost:8787", host)).toBe(
      `${here}\nFrom other machines: http://192.168.1.7:8787/__sluice/#token=a%2Fb`,
    );
  }
  expect(linksOf("https://192.168.1.7:1", "192.168.1.7")).toBe(
    "Dashboard: https://192.168.1.7:1/__sluice/#token=a%2Fb",
  );
  expect(dashboardLinks("http://localhost:8787", "a/b", { host: "::", networks: {} })).toBe(here);
});
