/** Calls that follow one another, whoever waits for them. */
export class Turns {
  #before: Promise<unknown> = Promise.resolve();

  next<T>(call: () => Promise<T>): Promise<T> {
    const result = this.#before.then(call);
    this.#before = result.catch(() => undefined);
    return result;
  }
}
