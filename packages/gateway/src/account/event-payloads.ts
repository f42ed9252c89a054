/** Fields of an event, or of a part of one. */
export type Fields = Readonly<Record<string, unknown>>;
/** Payloads by the names of their events. */
export type Payloads = Readonly<Record<string, Fields>>;

/** Payload of an event of a build. */
export function build(now: string, status: string, buildOutcome: string | null): Fields {
  return {
    buildUuid: uuid("6"),
    status,
    buildOutcome,
    createdAt: now,
    initializingAt: now,
    runningAt: now,
    stoppedAt: buildOutcome === null ? null : now,
    buildTriggerMetadata: {
      buildTriggerSource: "push_event",
      branch: "main",
      commitHash: hex("7", 40),
      commitMessage: "Sell lamps",
      author: "ann@shop.example",
      buildCommand: "npm run build",
      deployCommand: "npx wrangler deploy",
      rootDirectory: "/",
      repoName: "shop",
      providerAccountName: "ann",
      providerType: "github",
    },
  };
}

/** Payload of a push to a repository. */
export function push(now: string): Fields {
  const person = { name: "Ann", email: "ann@shop.example" };
  const commit = {
    id: hex("9", 40),
    message: "Sell lamps",
    messageTruncated: false,
    timestamp: now,
    author: person,
    committer: person,
    parents: [hex("8", 40)],
  };
  const { id: after } = commit;
  const [before] = commit.parents;
  return {
    ref: "refs/heads/main",
    before,
    after,
    commits: [commit],
    totalCommitsCount: 1,
    commitsTruncated: false,
  };
}

/** Payloads of the events of a sent email. */
export function emails(): Payloads {
  const complained = {
    eventId: uuid("a"),
    messageId: "message-1",
    sender: "shop@shop.example",
    recipient: "ann@customer.example",
  };
  const message = { ...complained, subject: "Your lamp" };
  const answered = (status: string, code: string, enhanced: string, text: string) => ({
    status,
    provider: "external_smtp",
    deliveryTimeMs: 1_200,
    smtpStatusCode: code,
    smtpEnhancedStatusCode: enhanced,
    smtpResponse: `${code} ${enhanced} ${text}`,
  });
  const later = answered("deferred", "451", "4.2.0", "Try again later");
  const never = answered("bounced", "550", "5.1.1", "No such user");
  return {
    "message.delivered": {
      ...message,
      terminal: true,
      delivery: answered("delivered", "250", "2.0.0", "OK"),
    },
    "message.deferred": {
      ...message,
      terminal: false,
      delivery: later,
      bounce: { type: "soft", classification: "temporary_failure", reason: later.smtpResponse },
    },
    "message.bounced": {
      ...message,
      terminal: true,
      delivery: never,
      bounce: { type: "hard", classification: "permanent_failure", reason: never.smtpResponse },
    },
    "message.failed": {
      ...message,
      terminal: true,
      delivery: { status: "failed" },
      failure: { reason: "delivery_failed" },
    },
    "message.rejected": {
      ...message,
      terminal: true,
      delivery: { status: "rejected" },
      rejection: { reason: "suppressed", party: "recipient", detail: "The recipient is suppressed" },
    },
    "message.complained": {
      ...complained,
      terminal: true,
      delivery: { status: "complained" },
      complaint: { type: "abuse" },
    },
  };
}

/** Payload of an event of a video. */
export function video(now: string): Fields {
  const id = hex("b", 32);
  const at = `https://cloudflarestream.com/${id}`;
  return {
    id,
    readyToStream: true,
    readyToStreamAt: now,
    requireSignedURLs: false,
    status: { state: "ready", pctComplete: "100.000000", errorReasonCode: "", errorReasonText: "" },
    meta: { name: "lamp.mp4" },
    created: now,
    modified: now,
    uploaded: now,
    uploadExpiry: now,
    duration: 30,
    size: 402_073,
    input: { height: 720, width: 1_280 },
    thumbnail: `${at}/thumbnails/thumbnail.jpg`,
    thumbnailTimestampPct: 0,
    preview: `${at}/watch`,
    hlsPlaybackUrl: `${at}/manifest/video.m3u8`,
    dashPlaybackUrl: `${at}/manifest/video.mpd`,
    publicDetails: { title: "", share_link: "", channel_link: "", logo: "" },
  };
}

/** Payload of an event of a live input. */
export function liveInput(now: string, state: string, reason: string | null): Fields {
  return {
    uid: hex("3", 32),
    status: { current: { state, reason, statusEnteredAt: now, statusLastSeen: now } },
  };
}

/** Makes an id of one digit, so that nobody takes it for a real one. */
export function hex(digit: string, length: number): string {
  return digit.repeat(length);
}

/** Makes a UUID of one digit. */
export function uuid(digit: string): string {
  return [8, 4, 4, 4, 12].map((length) => hex(digit, length)).join("-");
}
