/** The package has no types. */
declare module "sns-validator" {
  export default class MessageValidator {
    constructor(hostPattern?: RegExp, encoding?: string);
    validate(message: string | object, done: (error: Error | null, message?: object) => void): void;
  }
}
