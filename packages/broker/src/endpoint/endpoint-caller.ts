import { HEADER_VALUE_PATTERN, type HttpPushSettings, isReservedHeader } from "@sluice/protocol";
import type { Clock } from "../platform/clock.ts";
import type { QueueLog } from "../platform/log.ts";
import { NotCalled } from "../push/absence.ts";
import { authorizationFor } from "./authorization.ts";
import { type EndpointOutcome, type EndpointPort, type EndpointRequest, headerBytes } from "./endpoint.ts";
import { isSigningSecret, signatureHeaders } from "./signature.ts";
import { refusalOfTarget, type TargetRules } from "./target.ts";
import type { EndpointVariables } from "./variables.ts";

/** Settings, ports and rules for calls of HTTP endpoints. */
export interface EndpointCallerInput {
  readonly settings: HttpPushSettings;
  readonly port: EndpointPort;
  readonly clock: Clock;
  /** Reads the machine's time, in ms: receivers refuse signatures of another time, to which the clock may be moved. */
  readonly systemMs: () => number;
  readonly log: QueueLog;
  readonly targets: TargetRules;
  /** Environment variables of the broker for headers and signatures. */
  readonly variable: EndpointVariables;
  /** Whether the path of the URL is a secret too, which no log line has. Default: no. */
  readonly hidesPath?: boolean;
}

/** Request without the headers that the queue's settings add to all requests. */
export interface Post {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
  /** Id of the message, which is signed. */
  readonly id: string;
}

/** Calls the HTTP endpoint of a queue, by its settings. Rejects with `NotCalled` when it must not be called. */
export class EndpointCaller {
  readonly settings: HttpPushSettings;
  readonly clock: Clock;
  readonly #input: EndpointCallerInput;
  /** Whether reserved headers of the settings were logged. */
  #hasReported = false;

  constructor(input: EndpointCallerInput) {
    this.settings = input.settings;
    this.clock = input.clock;
    this.#input = input;
  }

  /** Name for log lines: the URL without parts that may hold a key. */
  get name(): string {
    const url = URL.parse(this.settings.url);
    if (url === null) return "an invalid URL";
    return this.#input.hidesPath === true ? url.origin : `${url.origin}${url.pathname}`;
  }

  /** Posts a message. A 401 is answered with the queue's credentials, once, within the same time. */
  async post({ url, headers, body, id }: Post): Promise<EndpointOutcome> {
    const { settings, clock } = this;
    this.#check(url);
    const request: EndpointRequest = {
      url,
      headers: { ...headers, ...this.#ownHeaders(), ...(await this.#signature(id, body)) },
      body,
      // SNS makes no probe beside a delivery, since its policy treats an absent endpoint like any failure.
      connectTimeoutMs: settings.format === "sns" ? null : 1000 * settings.connectTimeoutSeconds,
      responseTimeoutMs: 1000 * settings.responseTimeoutSeconds,
      ...wholeAnswerOf(settings),
    };
    const startMs = clock.now();
    const outcome = await this.#input.port.post(request);
    if (outcome.kind === "unreachable" && outcome.isRefused === true) this.#cannotCall(outcome.reason);
    const authorization = this.#authorization(outcome, request);
    if (authorization === null) return outcome;
    const leftMs = request.responseTimeoutMs - (clock.now() - startMs);
    // A 401 that was not answered must not count as a refusal.
    if (leftMs <= 0) return { kind: "timedOut", reason: "no time was left to answer the 401 that it sent" };
    const again = { ...request, headers: { ...request.headers, authorization }, responseTimeoutMs: leftMs };
    return this.#input.port.post(again);
  }

  /** Whether the endpoint answers. Rejects with `NotCalled` when a variable for it is missing or holds no key. */
  async isReady(): Promise<boolean> {
    const { url, readinessPath, connectTimeoutSeconds } = this.settings;
    this.#check(url);
    this.#ownHeaders();
    this.#signingSecret();
    return this.#input.port.isReady(url, readinessPath, 1000 * connectTimeoutSeconds);
  }

  /** Logs an unexpected outcome of a request. */
  note(text: string): void {
    this.#input.log.warn(`${this.name}: ${text}`);
  }

  /** Makes the header that answers a 401; `null` for other outcomes, or without credentials. */
  #authorization(outcome: EndpointOutcome, { url, body }: EndpointRequest): string | null {
    const { credentials } = this.settings;
    if (credentials === undefined || outcome.kind !== "answered" || outcome.status !== 401) return null;
    const clientNonce = crypto.randomUUID().replaceAll("-", "");
    const input = { ...credentials, method: "POST", url, body, clientNonce };
    return authorizationFor(outcome.challenge ?? "", input);
  }

  #check(url: string): void {
    const refusal = refusalOfTarget(url, this.#input.targets);
    if (refusal !== null) this.#cannotCall(refusal);
  }

  async #signature(id: string, body: Uint8Array): Promise<Readonly<Record<string, string>>> {
    const secret = this.#signingSecret();
    return secret === null ? {} : signatureHeaders(secret, id, body, this.#input.systemMs());
  }

  /** Reads the secret that requests are signed with; `null` if they are not signed. */
  #signingSecret(): string | null {
    const { signingSecret: name } = this.settings;
    if (name === undefined) return null;
    const secret = this.#variable(name);
    if (isSigningSecret(secret)) return secret;
    return this.#cannotCall(`the environment variable ${name} holds no key to sign with`);
  }

  /** Makes the headers of the settings, with the values of environment variables in their places. */
  #ownHeaders(): Record<string, string> {
    const { headers = {} } = this.settings;
    // Settings that an earlier version stored may have reserved headers.
    const reserved = Object.keys(headers).filter(isReservedHeader);
    if (reserved.length > 0 && !this.#hasReported) {
      this.#hasReported = true;
      this.note(`left out are headers that the broker or its connection sets: ${reserved.join(", ")}`);
    }
    const entries = Object.entries(headers).filter(([name]) => !isReservedHeader(name));
    return Object.fromEntries(
      entries.map(([name, value]) => [name.toLowerCase(), this.#valueOf(name, value)]),
    );
  }

  /** Makes the value of a header, without blanks at its ends: variables that are read from files end with a line. */
  #valueOf(name: string, value: string): string {
    const text = value.startsWith("$") ? this.#variable(value.slice(1)) : value;
    const bytes = headerBytes(text.trim());
    if (HEADER_VALUE_PATTERN.test(bytes)) return bytes;
    return this.#cannotCall(`the value of its header ${name} has a character that no header can have`);
  }

  #variable(name: string): string {
    const found = this.#input.variable(name, this.settings.url);
    return "value" in found ? found.value : this.#cannotCall(found.refusal);
  }

  #cannotCall(reason: string): never {
    throw new NotCalled(reason);
  }
}

/**
 * Limits the whole answer to a worker daemon, which deletes a message for it: an application that dies before its end
 * has not done its work (spec sqsd 3.1). After the visibility timeout the message is posted anew.
 */
function wholeAnswerOf({
  daemon,
  responseTimeoutSeconds,
}: HttpPushSettings): Pick<EndpointRequest, "wholeAnswerTimeoutMs"> {
  if (daemon === undefined) return {};
  return { wholeAnswerTimeoutMs: 1000 * Math.max(daemon.visibilityTimeoutSeconds, responseTimeoutSeconds) };
}
