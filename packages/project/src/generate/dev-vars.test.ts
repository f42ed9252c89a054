import { expect, it } from "vitest";
import { configOf, generate } from "../../test/generated.ts";
import { projectFolder } from "../../test/project-folder.ts";
import { devVars } from "./dev-vars.ts";

const worker = (rest: string) => ({
  "shop/wrangler.toml": `name = "shop"\nmain = "i.js"\ncompatibility_date = "2026-11-01"\n${rest}`,
  "shop/i.js": "export default { fetch() {} };",
});

/** Returns the broker's variables beside a Worker with these lines in its configuration. */
async function varsBeside(rest: string): Promise<unknown> {
  const { plan } = await generate(projectFolder(worker(rest)), { purpose: "dev", targets: ["shop"] });
  return configOf(plan, "sluice").vars;
}

it.each([
  ["", undefined],
  ['route = "shop.example.com/*"', "shop.example.com"],
  ['routes = ["https://*.example.com/a/*", "*example.org/*"]', "example.com,example.org"],
  ['routes = [{ pattern = "shop.example.com", custom_domain = true }]', "shop.example.com"],
  [
    'routes = [{ pattern = "a.example.com/*", zone_name = "example.com" }, "a.example.com/b"]',
    "a.example.com",
  ],
  ['routes = [{ pattern = "*/shop/*", zone_name = "example.net" }]', "example.net"],
  ['[dev]\nhost = "dev.example.com"', "dev.example.com"],
])(
  "tells the broker of sluice dev the hosts that Wrangler replaces localhost by: %s",
  async (rest, hosts) => {
    expect(await varsBeside(rest)).toEqual({
      SLUICE_BROKER_OPTIONS: expect.any(String),
      SLUICE_ENV: "development",
      ...(hosts === undefined ? {} : { SLUICE_ROUTE_HOSTS: hosts }),
    });
  },
);

it("only tokens and allowed hosts of the environment become variables", () => {
  const environment = { SLUICE_API_TOKENS: "a,b", SLUICE_ALLOWED_HOSTS: "tunnel.example.com", SECRET: "x" };
  expect(devVars(undefined, environment)).toEqual({
    SLUICE_ENV: "development",
    SLUICE_API_TOKENS: "a,b",
    SLUICE_ALLOWED_HOSTS: "tunnel.example.com",
  });
  expect(devVars(undefined, { SLUICE_API_TOKENS: "" })).toEqual({ SLUICE_ENV: "development" });
});
