// @module-tag slow
import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { CHROMIUM, type DashboardLab, holds, openLab } from "./lab.ts";

let lab: DashboardLab;

beforeAll(async () => {
  if (CHROMIUM !== null) lab = await openLab(CHROMIUM);
});
afterAll(() => lab?.close());

/** Waits until the focus is on an element of that kind and text, and stays there while the page is drawn anew. */
async function focusIsOn(page: Page, kind: string, text: string): Promise<void> {
  const script = `new Promise(requestAnimationFrame).then(() => {
    const { tagName, innerText, labels } = document.activeElement;
    return [tagName, tagName === "BODY" ? "" : innerText || labels?.[0]?.innerText];
  })`;
  const focused = () => page.evaluate(script);
  await expect.poll(focused).toEqual([kind, text]);
}

/** Sends dead letters of two kinds of error, and opens their list. */
async function openDeadLetters(vases: number, cards: number): Promise<Page> {
  await lab.api("/queues/gifts-dead/purge", "POST");
  const messages = Array.from({ length: vases + cards }, (_, i) => ({
    contentType: "json",
    text: JSON.stringify({ item: i < vases ? "vase" : "card" }),
  }));
  await lab.api("/queues/gifts/messages/batch", "POST", { messages });
  await holds(lab, "gifts-dead", vases + cards);
  const page = await lab.open("#/queues/gifts-dead/messages");
  await page.getByRole("region", { name: "Last errors" }).waitFor();
  return page;
}

const button = (page: Page, name: string) => page.getByRole("button", { name, exact: true });

describe.skipIf(CHROMIUM === null)("the focus of a keyboard user", () => {
  it("is on the heading of the list after a click on an error, a filter without hits, and all messages again", async () => {
    const page = await openDeadLetters(3, 1);
    await page.getByRole("link", { name: "card declined" }).press("Enter");
    await expect.poll(() => page.getByRole("checkbox", { name: "Choose" }).count()).toBe(1);
    await focusIsOn(page, "H2", "Messages");
    await page.getByLabel("Look for messages").fill("nothing");
    await page.getByLabel("Look for messages").press("Enter");
    await page.getByText("No message fits nothing").waitFor();
    await focusIsOn(page, "INPUT", "Look for messages");
    await page.getByRole("link", { name: "Show all messages" }).press("Enter");
    await expect.poll(() => page.getByRole("checkbox", { name: "Choose" }).count()).toBe(4);
    await focusIsOn(page, "H2", "Messages");
  });

  it("is on the heading of the list after something was done to messages, also to the last of them", async () => {
    const page = await openDeadLetters(3, 0);
    const act = async (what: string, dialog: string) => {
      await page
        .getByRole("group", { name: "Chosen messages" })
        .getByRole("button", { name: what })
        .press("Enter");
      await page.getByRole("dialog").getByRole("button", { name: dialog }).press("Enter");
      await page.getByRole("dialog").waitFor({ state: "detached" });
    };
    await page.getByRole("checkbox", { name: "Choose" }).first().press("Space");
    await act("Delete", "Delete: 1 message");
    await expect.poll(() => page.getByRole("checkbox", { name: "Choose" }).count()).toBe(2);
    await focusIsOn(page, "H2", "Messages");
    await page.getByLabel("All that fit").press("Space");
    await act("Delete", "Delete: 2 messages");
    await page.getByText("The queue is empty.").waitFor();
    await focusIsOn(page, "H2", "Messages");
  });

  it("is on the heading of the list once there is no further page", async () => {
    await lab.api("/queues/inbox/purge", "POST");
    const messages = Array.from({ length: 51 }, () => ({ contentType: "text", text: "m" }));
    await lab.api("/queues/inbox/messages/batch", "POST", { messages });
    const page = await lab.open("#/queues/inbox/messages");
    await button(page, "Next").press("Enter");
    await page.getByText("Page 2").waitFor();
    await focusIsOn(page, "H2", "Messages");
  });

  it("is on the button of a dialog that closes, whether by Escape or because it was done", async () => {
    const page = await lab.open("#/queues/inbox");
    await button(page, "Send a message").press("Enter");
    await page.getByRole("dialog").press("Escape");
    await focusIsOn(page, "BUTTON", "Send a message");
    await button(page, "Send a message").press("Enter");
    await page.getByLabel("Body").fill("1");
    await page.getByRole("dialog").getByRole("button", { name: "Send" }).press("Enter");
    await page.getByRole("dialog").waitFor({ state: "detached" });
    await focusIsOn(page, "BUTTON", "Send a message");
    await button(page, "Purge").press("Enter");
    await page.getByRole("dialog").getByRole("button", { name: "Purge" }).press("Enter");
    await page.getByText(/messages? deleted, finished ones too\./).waitFor();
    await focusIsOn(page, "BUTTON", "Purge");
    await button(page, "Pause delivery").press("Enter");
    await page.getByText("Delivery was paused.").waitFor();
    await focusIsOn(page, "BUTTON", "Resume delivery");
    await button(page, "Resume delivery").press("Enter");
    await focusIsOn(page, "BUTTON", "Pause delivery");
  });

  it("is on the heading of the page where what had it is gone for good", async () => {
    const { id } = await lab.api<{ id: string }>("/queues/inbox/messages", "POST", {
      body: 1,
      delaySeconds: 60,
    });
    const page = await lab.open(`#/queues/inbox/messages/${id}`);
    const heading = `Message ${id.slice(0, 8)}`;
    await focusIsOn(page, "H1", heading);
    await button(page, "Retry now").press("Enter");
    await page.getByText("It is due now.").waitFor();
    await focusIsOn(page, "H1", heading);
    await page.keyboard.press("o");
    await page.getByRole("table", { name: "Queues" }).waitFor();
    await focusIsOn(page, "H1", "Queues");
  });
});
