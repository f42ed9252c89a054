import { expect, it } from "vitest";
import { eventsOfSources, eventsProblem, readSource } from "./subscription-sources.ts";

it.each([
  ["stream", "video_state.ready", {}],
  ["stream", "caption.created", {}],
  ["stream.liveInput", "live_input.connected", {}],
  ["access", "application.created", {}],
  ["artifacts", "repo.created", {}],
  ["artifacts.repo", "pushed", { namespace: "shop", repo_name: "lamps" }],
  ["browserRun", "crawl.finished", {}],
  ["email.sending", "message.bounced", { zone_id: "z", domain: "shop.example" }],
  ["workers.script", "deployment.created", { script_tag: "tag" }],
])("a source %s has events such as %s", (type, event, fields) => {
  expect(readSource({ type, ...fields })).toEqual({ source: { type, ...fields }, problem: "" });
  expect(eventsProblem(type, [event])).toBeNull();
  expect(eventsProblem(type, [event, "nothing.happened"])).toContain(
    `Unrecognized event types for source "${type}": nothing.happened. There are: `,
  );
});

it("a source is refused whose type there is not, or that lacks a field of its type", () => {
  expect(readSource({ type: "aiSearch" }).problem).toContain(
    'Unknown event source "aiSearch". There are: r2, kv',
  );
  expect(readSource({ type: "email.sending", zone_id: "z" }).problem).toBe(
    'The event source "email.sending" needs a "domain".',
  );
});

it("takes any event of a source whose events are not published", () => {
  const unpublished = eventsOfSources().filter(([, events]) => events.length === 0);
  expect(unpublished.map(([source]) => source)).toEqual(["images"]);
  expect(eventsProblem("images", ["anything"])).toBeNull();
});

it("every source that Wrangler 4.164 and Cloudflare's SDK 7.3 name can be subscribed to", () => {
  const named =
    "artifacts artifacts.repo browserRun email.sending images kv r2 superSlurper vectorize workers.script " +
    "workersAi.model workersBuilds.worker workflows.workflow";
  expect(eventsOfSources().map(([source]) => source)).toEqual(expect.arrayContaining(named.split(" ")));
});
