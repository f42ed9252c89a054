import type { EndpointOutcome, EndpointRequest } from "@sluice/broker";
import { HEARTBEAT_MS, LEASE_GRACE_MS } from "@sluice/broker/testing";
import type { HttpPushFormat, HttpPushSettings } from "@sluice/protocol";
import type { Simulation } from "../checkers/simulation.ts";
import type { DeliveryRecord, Verdict } from "../ledger/delivery-record.ts";
import type { Asks } from "../ledger/endpoint-authorization.ts";
import { answers, type Challenge, challengeOf } from "../ledger/endpoint-authorization.ts";
import { type Outcome, verdictOf } from "../ledger/endpoint-verdict.ts";
import type { Message, ReceiptUse } from "../ledger/message.ts";
import { unnamedDelayMs } from "../ledger/retry-delay.ts";
import { tagOfRequest } from "../ledger/tags.ts";
import type { CalledEndpoint } from "../platform/called.ts";
import type { Epoch } from "../platform/epoch.ts";
import { exchange } from "../platform/network.ts";
import type { QueueObject } from "../platform/queue-object.ts";
import { CREDENTIALS, type Replies } from "../scenario/endpoint-scenario.ts";
import type { Taker } from "../scenario/scenario.ts";
import { type Conduct, drawConduct, OK } from "./endpoint-answer.ts";
import { recordDeparture } from "./push-consumer.ts";

/** Time from the end of the response timeout to a late answer, in ms. */
const LATE_MS = 2_000;

/** A request from its departure to its outcome. The worker daemon may make it twice. */
interface Call {
  readonly record: DeliveryRecord;
  readonly message: Message | undefined;
  /** Whether the request is the trial of an endpoint that was away; see `Epoch.trial`. */
  readonly trial: "yes" | "no" | "unclear";
  /** Deliveries, this one included. */
  readonly attempts: number;
  /** End of the visibility timeout that the worker daemon has received its message with, in ms. */
  readonly visibleAtMs: number;
  /** Connections that were lost without an answer. */
  closed: number;
  isUnderWay: boolean;
  /** Challenge in the answer to its first request; `null` unless the endpoint has asked for authorization. */
  challenge: Challenge | null;
  /** Whether a second request has answered the challenge. */
  isAnswered: boolean;
}

/** An application behind a URL. What it does with a request is drawn from the seed. */
export class HttpEndpoint implements CalledEndpoint {
  /** Time until which the endpoint takes no connections, in ms. */
  absentUntilMs = 0;
  readonly #world: Simulation;
  readonly #queue: QueueObject;
  readonly format: HttpPushFormat;
  readonly #replies: Replies;
  readonly #asks: Asks;
  readonly #calls = new Map<string, Call>();
  /** Every challenge that it has given. */
  readonly #challenges: Challenge[] = [];

  constructor(
    world: Simulation,
    queue: QueueObject,
    { format, replies, asks }: Extract<Taker, { kind: "endpoint" }>,
  ) {
    this.#world = world;
    this.#queue = queue;
    this.format = format;
    this.#replies = replies;
    this.#asks = asks;
  }

  /**
   * Carries a request from the queue to the endpoint, and the outcome back.
   *
   * @param calledMs time of the queue's call, in ms: the request leaves later, when what was written is durable.
   */
  async post(epoch: Epoch, request: EndpointRequest, calledMs: number): Promise<EndpointOutcome> {
    const { responseTimeoutMs } = request;
    const call = this.#depart(epoch, request);
    const tag = tagOfRequest(request);
    const answer = exchange(this.#world, () => this.#arrive(request, call, tag));
    const tooLate: Outcome = { kind: "timedOut", reason: "no answer in time" };
    const outcome = await this.#inTime(
      responseTimeoutMs,
      answer.catch(() => this.#cutOff(request)),
      tooLate,
    );
    const status = outcome.kind === "answered" ? outcome.answer.status : 0;
    this.#world.note("request is answered", this.#queue.name, call.record.leaseId, status);
    call.isUnderWay = false;
    const leftMs = responseTimeoutMs - (this.#world.nowMs - calledMs);
    if (epoch.isAlive) this.#takeOutcome(call, epoch, outcome, leftMs);
    return toEndpointOutcome(outcome);
  }

  /** Carries a ping to the endpoint; resolves to whether the endpoint has answered it in time. */
  async isReady(epoch: Epoch, probe: number, timeoutMs: number): Promise<boolean> {
    const { name } = this.#queue;
    this.#world.note("ping leaves the queue", name);
    const answer = exchange(this.#world, async () => !this.#isAbsent).catch(() => false);
    const isReady = await this.#inTime(timeoutMs, answer, false);
    this.#world.note("ping is answered", name, isReady ? 1 : 0);
    if (isReady && epoch.isAlive && probe === epoch.probes) this.#isBack(epoch);
    return isReady;
  }

  /** Resolves to the answer, or to `tooLate` if none has come within `timeoutMs`. */
  #inTime<Answer>(timeoutMs: number, answer: Promise<Answer>, tooLate: Answer): Promise<Answer> {
    return new Promise((resolve) => {
      const end = this.#world.loop.after(timeoutMs, () => resolve(tooLate));
      void answer.then((value) => {
        end.isCancelled = true;
        resolve(value);
      });
    });
  }

  get #isAbsent(): boolean {
    return this.absentUntilMs > this.#world.nowMs;
  }

  get #settings(): HttpPushSettings {
    const { consumer } = this.#queue.definition;
    if (consumer?.type !== "http_push") throw new Error("a queue without an endpoint has called one");
    return consumer.settings;
  }

  /** Records a request that leaves, after the checkers have seen it. One that is made again has its record already. */
  #depart(epoch: Epoch, request: EndpointRequest): Call {
    const { ledger, name } = this.#queue;
    const tag = tagOfRequest(request);
    const message = ledger.messages.get(tag);
    const view = message?.view;
    const leased = view?.status === "leased" ? view : null;
    const told = toldAttempts(request) ?? leased?.attempts ?? 0;
    const attempts = this.format === "sqsd" ? told - (message?.earlierReceives ?? 0) : told;
    const key = `${tag} ${attempts}`;
    const known = this.#calls.get(key);
    // The connection that was lost may have been a stale one: the daemon tries once more (spec sqsd 5, S7).
    if (this.format === "sqsd" && known?.closed === 1 && !known.isUnderWay) {
      known.isUnderWay = true;
      this.#world.note("request leaves the queue again", name, known.record.leaseId, tag);
      return known;
    }
    const authorization = request.headers.authorization ?? null;
    const isAsked = known !== undefined && known.record.epoch === epoch.number && !known.isUnderWay;
    const challenge = isAsked && !known.isAnswered ? known.challenge : null;
    const credentials = this.#settings.credentials ?? null;
    this.#world.check("requested", this.#queue, {
      tag,
      url: request.url,
      authorization,
      challenge,
      credentials,
    });
    if (known !== undefined && challenge !== null && authorization !== null) {
      known.isUnderWay = true;
      known.isAnswered = true;
      this.#world.note("request leaves the queue again", name, known.record.leaseId, tag);
      return known;
    }
    const hidesNothing = this.#settings.daemon?.visibilityTimeoutSeconds === 0;
    const record = recordDeparture(this.#world, this.#queue, {
      tags: [tag],
      ids: [idOf(request)],
      attempts: [attempts],
      ...(hidesNothing ? { visibilityMs: 0 } : {}),
    });
    const isTrial = this.format === "sluice" && epoch.trial.state === "due";
    const trial = !isTrial ? "no" : epoch.trial.isUnclear ? "unclear" : "yes";
    if (isTrial) epoch.trial = { ...epoch.trial, state: record.leaseId };
    const call = { record, message, trial, attempts, visibleAtMs: leased?.atMs ?? 0, closed: 0 } as const;
    const made: Call = { ...call, isUnderWay: true, challenge: null, isAnswered: false };
    this.#calls.set(key, made);
    return made;
  }

  async #arrive(request: EndpointRequest, { record }: Call, tag: number): Promise<Outcome> {
    const { random, loop, isTroubled } = this.#world;
    if (this.#isAbsent) return this.#turnAway(request);
    if (this.#asks !== "nothing" && !this.#isAuthorized(request)) {
      await loop.sleep(random.pick([0, 3, 200]));
      return this.#ask(this.#asks);
    }
    const drawn = isTroubled ? random.pick([...this.#replies]) : "ok";
    const conduct: Conduct = isTroubled ? drawConduct(this.#world, drawn, tag) : OK;
    this.#world.note(
      "request arrives at its endpoint",
      this.#queue.name,
      record.leaseId,
      drawn.charCodeAt(0) + 256 * drawn.length,
    );
    // Without trouble the answer is always in time.
    const workMs = random.pick([0, 0, 3, 200, isTroubled ? 4_000 : 400]);
    switch (conduct.kind) {
      case "answer":
        await loop.sleep(workMs);
        return { kind: "answered", answer: conduct.answer };
      case "hang":
        return new Promise(() => {});
      case "late":
        await loop.sleep(request.responseTimeoutMs + LATE_MS);
        return { kind: "answered", answer: OK.answer };
      case "die":
        this.absentUntilMs = this.#world.nowMs + random.pick([10, 2_000, HEARTBEAT_MS + 1, 40_000]);
        return this.#cutOff(request);
      case "drop":
        await loop.sleep(workMs);
        return this.#cutOff(request);
    }
  }

  #isAuthorized({ url, headers: { authorization } }: EndpointRequest): boolean {
    return (
      authorization !== undefined &&
      this.#challenges.some((challenge) => answers(authorization, challenge, CREDENTIALS, url))
    );
  }

  #ask(asks: Exclude<Asks, "nothing">): Outcome {
    this.#world.faults["endpoint asked for authorization"] += 1;
    const challenge = challengeOf(asks, `${this.#queue.name}-${this.#challenges.length}`);
    this.#challenges.push(challenge);
    return { kind: "answered", answer: { status: 401, retryAfter: null, wait: null, challenge } };
  }

  /** Refuses the connection, or lets it time out. */
  async #turnAway({ connectTimeoutMs }: EndpointRequest): Promise<Outcome> {
    const { loop, faults, random } = this.#world;
    faults["endpoint not there"] += 1;
    if (connectTimeoutMs === null) return { kind: "closed", reason: "refused, or cut" };
    if (random.chance(0.5)) return { kind: "unreachable", reason: "refused" };
    await loop.sleep(connectTimeoutMs);
    return { kind: "unreachable", reason: "no connection in time" };
  }

  /** Makes the outcome of a lost connection: a caller with a connect timeout looks whether the endpoint is there. */
  #cutOff({ connectTimeoutMs }: EndpointRequest): Outcome {
    return connectTimeoutMs !== null && this.#isAbsent
      ? { kind: "unreachable", reason: "gone" }
      : { kind: "closed", reason: "the connection was cut" };
  }

  #isBack(epoch: Epoch): void {
    epoch.consumerIsAbsent = false;
    // A result that no turn has looked at yet may end the trial before it begins.
    const isUnclear = epoch.resultVersion === this.#queue.disk.committedVersion;
    if (this.format === "sluice") epoch.trial = { state: "due", isUnclear };
  }

  /**
   * Takes in an outcome that the queue has received. The queue answers the first 401 of a delivery with credentials, if
   * time is left: only the outcome of that second request counts for the message.
   */
  #takeOutcome(call: Call, epoch: Epoch, outcome: Outcome, leftMs: number): void {
    const challenge = outcome.kind === "answered" ? (outcome.answer.challenge ?? null) : null;
    if (challenge === null || call.challenge !== null || this.#settings.credentials === undefined) {
      this.#reach(call, epoch, outcome);
    } else if (leftMs <= 0) {
      this.#reach(call, epoch, { kind: "timedOut", reason: "it asked too late" });
    } else {
      call.challenge = challenge;
    }
  }

  #reach(call: Call, epoch: Epoch, outcome: Outcome): void {
    const version = this.#queue.disk.committedVersion;
    if (call.message === undefined) return;
    if (this.format === "sqsd") {
      this.#reachDaemon(call, call.message, epoch, outcome);
      return;
    }
    const { definition, name } = this.#queue;
    const { nowMs } = this.#world;
    const { record, message, trial, attempts } = call;
    const [id = ""] = record.ids;
    // `attempts` is 0 if no lease of the message is known: the checkers report that.
    const delayMs = unnamedDelayMs(definition, name, id, Math.max(1, attempts));
    const stillOnTrial = epoch.trial.state === record.leaseId ? trial : "no";
    const verdict = verdictOf(this.format, outcome, { nowMs, unnamedDelayMs: delayMs, trial: stillOnTrial });
    const isAbsent = verdict.kind === "release" || verdict.kind === "releaseOrRetry";
    if (this.format === "sluice" && outcome.kind === "unreachable") epoch.consumerIsAbsent = true;
    // An answer that comes after the longest time of a delivery may or may not end the trial: that depends on whether
    // the queue has looked at the clock before.
    const isOverdue = message.view.status === "leased" && message.view.atMs - LEASE_GRACE_MS <= nowMs;
    if (isOverdue) epoch.trial = { ...epoch.trial, isUnclear: true };
    else if (!isAbsent || epoch.trial.state === record.leaseId)
      epoch.trial = { state: "none", isUnclear: false };
    if (outcome.kind !== "unreachable") epoch.resultVersion = version;
    const reached: Verdict = isOverdue ? { kind: "overdue", answer: verdict, delayMs } : verdict;
    record.reach(message, reached, epoch.number, version);
  }

  /** The worker daemon deletes what is done, and may make the rest visible sooner or later (spec sqsd 3.1). */
  #reachDaemon(call: Call, message: Message, epoch: Epoch, outcome: Outcome): void {
    if (outcome.kind === "closed" && call.closed === 0) {
      call.closed += 1;
      return;
    }
    call.closed += 1;
    const { leaseId } = call.record;
    const use = (what: ReceiptUse["what"]) => {
      const version = this.#queue.disk.committedVersion;
      message.receiptUses.push({ leaseId, epoch: epoch.number, version, what });
    };
    if (outcome.kind === "answered" && outcome.answer.status === 200) {
      use({ kind: "delete" });
      return;
    }
    const seconds = this.#settings.daemon?.errorVisibilityTimeoutSeconds ?? null;
    if (seconds === null) return;
    use({
      kind: "changeVisibility",
      forMs: 1_000 * seconds,
      ifBeforeMs: call.visibleAtMs,
      notAfterMs: Infinity,
    });
  }
}

/** Converts an outcome to the queue's form: of an answer, its status, `Retry-After` and challenge header. */
function toEndpointOutcome(outcome: Outcome): EndpointOutcome {
  if (outcome.kind !== "answered") return outcome;
  const { status, retryAfter, challenge } = outcome.answer;
  return { kind: "answered", status, retryAfter, challenge: challenge?.header ?? null };
}

/** Attempt number in the request's headers; `null` without one. */
function toldAttempts({ headers }: EndpointRequest): number | null {
  const told = headers["sluice-attempt"] ?? headers["X-Aws-Sqsd-Receive-Count"];
  return told === undefined ? null : Number(told);
}

/** The message's id, 32 hexadecimal digits. */
function idOf({ headers }: EndpointRequest): string {
  const { "sluice-message-id": own, "x-amz-sns-message-id": sns, "X-Aws-Sqsd-Msgid": sqsd } = headers;
  return (own ?? sns ?? sqsd ?? "").replaceAll("-", "");
}
