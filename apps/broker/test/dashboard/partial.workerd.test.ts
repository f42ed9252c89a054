import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { CHROMIUM, type DashboardLab, holds, openLab, row, says } from "./lab.ts";

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

describe.skipIf(CHROMIUM === null)("a list of messages", () => {
  it("begins at its beginning when its filter changes on a later page", async () => {
    const messages = Array.from({ length: 60 }, (_, i) => ({ contentType: "text", text: `lamp ${i}.` }));
    await lab.api("/queues/inbox/messages/batch", "POST", { messages });
    await holds(lab, "inbox", 60);
    const page = await lab.open("#/queues/inbox/messages");
    await page.getByRole("button", { name: "Next" }).click();
    await says(page.getByRole("navigation", { name: "Pages of messages" }), "Page 2");
    await page.getByLabel("Look for messages").fill("7.");
    await says(page.getByRole("table", { name: "Messages" }), "lamp 7.");
  });

  it("says how many of its messages were deleted so far", async () => {
    const page = await lab.open("#/queues/inbox/messages");
    const answered = Promise.withResolvers<void>();
    let deleted = 0;
    await page.route("**/messages/delete", async (route) => {
      if (route.request().postDataJSON().dryRun === true) return route.continue();
      if (deleted > 0) await answered.promise;
      deleted += 7;
      const cursor = deleted === 7 ? "1-2-3" : null;
      await route.fulfill({ json: { deleted: 7, cursor, searched: 7, of: 60 } });
    });
    await page.getByLabel("All that fit").check();
    await page.getByRole("button", { name: "Delete" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByRole("button", { name: /Delete: 60/ }).click();
    await says(dialog, "7 messages deleted so far.");
    answered.resolve();
    await says(page.getByRole("main"), "14 messages deleted.");
  });

  it("has no more of its messages deleted once that was cancelled, and says how many were", async () => {
    const page = await lab.open("#/queues/inbox/messages");
    const asked = Promise.withResolvers<void>();
    const answered = Promise.withResolvers<void>();
    let requests = 0;
    await page.route("**/messages/delete", async (route) => {
      if (route.request().postDataJSON().dryRun === true) return route.continue();
      requests += 1;
      asked.resolve();
      await answered.promise;
      await route.fulfill({ json: { deleted: 7, cursor: "1-2-3", searched: 7, of: 60 } });
    });
    await page.getByLabel("All that fit").check();
    await page.getByRole("button", { name: "Delete" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByRole("button", { name: /Delete: 60/ }).click();
    await asked.promise;
    await dialog.getByRole("button", { name: "Cancel" }).click();
    answered.resolve();
    await says(page.getByRole("main"), "7 messages deleted until it was cancelled.");
    expect(requests).toBe(1);
  });
});
