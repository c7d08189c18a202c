const MAX_ANSWERS = 32;

/**
 * Keeps the answers to questions that read every device, because the reports of a page and repeated reports ask the same. `versionOf` returns
 * what changes whenever the devices do; null while they are changing.
 */
export class AnswerCache<Answer> {
  private readonly versionOf: () => number | null;
  private version: number | null = null;
  private readonly answers = new Map<string, Answer>();

  constructor(versionOf: () => number | null) {
    this.versionOf = versionOf;
  }

  /** Returns the kept answer, or else computes it. Errors are not kept. */
  async answer(question: string, compute: () => Promise<Answer>): Promise<Answer> {
    const version = this.versionOf();
    if (version === null) return compute();
    if (version !== this.version) {
      this.answers.clear();
      this.version = version;
    }
    const known = this.answers.get(question);
    if (known !== undefined) return known;
    const answer = await compute();
    // Devices are read in portions, between which they may have changed.
    if (this.versionOf() === version && this.version === version) {
      if (this.answers.size >= MAX_ANSWERS) this.answers.clear();
      this.answers.set(question, answer);
    }
    return answer;
  }
}
