import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { CHROMIUM, type DashboardLab, openLab, row, says } from "./lab.ts";

let lab: DashboardLab;

beforeAll(async () => {
  if (CHROMIUM !== null) lab = await openLab(CHROMIUM);
});
afterAll(() => lab?.close());

/** Opens a broker with tokens, with one for the queue "inbox" alone. */
async function openedWith(hash: string, queue: string): Promise<Page> {
  const origin = await lab.another({ SLUICE_API_TOKENS: "first" });
  const ask = async (path: string, body: object) => {
    const headers = { authorization: "Bearer first" };
    const init = { method: "POST", headers, body: JSON.stringify(body) };
    const response = await fetch(`${origin}/__sluice/api${path}`, init);
    if (!response.ok) throw new Error(await response.text());
    return response.json() as Promise<Record<string, string>>;
  };
  const { secret = "" } = await ask("/tokens", { name: "shop", scopes: ["read"], queues: [queue] });
  const { id = "" } = await ask(`/queues/${queue}/messages`, { body: { item: "lamp" } });
  const page = await lab.open(hash.replace("ID", id), {}, origin);
  await page.getByLabel("This broker asks for").fill(secret);
  await page.getByRole("button", { name: "Open" }).click();
  return page;
}

describe.skipIf(CHROMIUM === null)("a page shows what it has", () => {
  it("of a queue whose broker cannot say why it waits", async () => {
    const page = await lab.open();
    await page.route("**/queues/inbox/why", (route) =>
      route.fulfill({
        status: 503,
        json: { error: { code: "shard_unavailable", message: "Shard 1 does not answer." } },
      }),
    );
    await page.getByRole("link", { name: "inbox", exact: true }).first().click();
    await says(page.getByRole("main"), /Shard 1 does not answer\..*Ready/);
  });

  it("of all queues to a token for one", async () => {
    const page = await openedWith("", "inbox");
    await says(row(page, "inbox"), "inbox");
    expect(await page.getByRole("alert").count()).toBe(0);
    expect(await row(page, "orders").count()).toBe(0);
  });

  it("of a message to a token for one queue", async () => {
    const page = await openedWith("#/queues/inbox/messages/ID", "inbox");
    await says(page.getByRole("region", { name: "Body" }).first(), '"item": "lamp"');
    expect(await page.getByRole("alert").count()).toBe(0);
  });

  it("to a token with characters that no header can carry: the form, with what is wrong", async () => {
    const origin = await lab.another({ SLUICE_API_TOKENS: "first" });
    const page = await lab.open("", {}, origin);
    await page.getByLabel("This broker asks for").fill("пароль");
    await page.getByRole("button", { name: "Open" }).click();
    await says(page.getByRole("alert"), "That is none of this broker's tokens.");
    await page.getByLabel("This broker asks for").fill("first");
    await page.getByRole("button", { name: "Open" }).click();
    await says(row(page, "inbox"), "inbox");
  });
});
