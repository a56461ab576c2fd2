/** How many messages drivers sent, whatever became of them. */
export class SendCounter {
  readonly #counts = new Map<string, number>();

  add(address: string): void {
    this.#counts.set(address, this.count(address) + 1);
  }

  count(address?: string): number {
    if (address !== undefined) return this.#counts.get(address) ?? 0;
    return [...this.#counts.values()].reduce((sum, count) => sum + count, 0);
  }
}
