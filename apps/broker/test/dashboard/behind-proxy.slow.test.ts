import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startTlsProxy } from "../tls-proxy.ts";
import { CHROMIUM, type DashboardLab, openLab, row, says } from "./lab.ts";

/** The page below a path that a TLS proxy removes, with plain HTTP between proxy and broker. */

const PATH = "/queues/here";
let lab: DashboardLab;

beforeAll(async () => {
  if (CHROMIUM !== null) lab = await openLab(CHROMIUM);
});
afterAll(() => lab?.close());

describe.skipIf(CHROMIUM === null)("the page below a path of a proxy", () => {
  it.each([
    ["SLUICE_TRUST_PROXY", () => ({ SLUICE_TRUST_PROXY: "true" })],
    ["SLUICE_PUBLIC_URL", (url: string) => ({ SLUICE_PUBLIC_URL: url })],
  ])("loads, sends, receives events and links with %s", async (_, varsFor) => {
    const proxy = await startTlsProxy(PATH, (host) => ({
      "x-forwarded-host": host,
      "x-forwarded-prefix": PATH,
    }));
    const url = `https://127.0.0.1:${proxy.port}${PATH}`;
    proxy.target = await lab.another({ SLUICE_ENV: "development", ...varsFor(url) });
    const page = await lab.open("", {}, url);
    await says(page.getByRole("status").first(), "live");
    await row(page, "inbox").getByRole("link", { name: "inbox" }).click();
    expect(page.url()).toBe(`${url}/__sluice/#/queues/inbox`);
    await page.getByRole("button", { name: "Send" }).click();
    const dialog = page.getByRole("dialog", { name: "Send to inbox" });
    await dialog.getByRole("textbox").first().fill('"hello"');
    await dialog.getByRole("button", { name: "Send" }).click();
    await page.keyboard.press("Escape");
    await says(page.getByRole("term").filter({ hasText: "Ready" }).locator(".."), "Ready 1");
    const json = page.getByRole("link", { name: `${PATH}/__sluice/api/queues/inbox` });
    expect(await json.getAttribute("href")).toBe(`${PATH}/__sluice/api/queues/inbox`);
    await page.goBack();
    await says(row(page, "inbox"), "1");
    await page.goto(`${url}/__sluice`);
    expect(page.url()).toBe(`${url}/__sluice/`);
    await says(page.getByRole("status").first(), "live");
    expect(proxy.requests.filter((request) => !request.includes(`${PATH}/__sluice`))).toEqual([]);
  });
});
