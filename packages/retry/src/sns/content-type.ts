/** Content type of a notification when no policy names another. */
export const CONTENT_TYPE_DEFAULT = "text/plain; charset=UTF-8";

/** Content types with SNS's JSON envelope around the message, and in policies of topics. */
const ENVELOPED = [CONTENT_TYPE_DEFAULT, "application/json", "text/plain"];

/** Content types when the message itself is the body. */
const RAW = [
  CONTENT_TYPE_DEFAULT,
  "text/css",
  "text/csv",
  "text/html",
  "text/plain",
  "text/xml",
  "application/atom+xml",
  "application/json",
  "application/octet-stream",
  "application/soap+xml",
  "application/x-www-form-urlencoded",
  "application/xhtml+xml",
  "application/xml",
];

/**
 * Lists the values that `headerContentType` may have (spec sns-delivery 2.6). The default can be named too: effective
 * policies show it.
 */
export function contentTypesAllowed(rawMessageDelivery: boolean): readonly string[] {
  return rawMessageDelivery ? RAW : ENVELOPED;
}

/**
 * The content type to send: that of the policy, or the default where raw delivery was switched off after a type was set
 * that only raw messages may have.
 */
export function contentTypeToSend(headerContentType: string, rawMessageDelivery: boolean): string {
  return contentTypesAllowed(rawMessageDelivery).includes(headerContentType)
    ? headerContentType
    : CONTENT_TYPE_DEFAULT;
}
