import type { Writer } from 'hyparquet-writer';

/** R2 takes parts of one size, at least 5 MiB, and a last one of any size. */
const PART_BYTES = 5 * 1024 * 1024;

export type WritableBucket = Pick<R2Bucket, 'put' | 'createMultipartUpload'>;
type Loaded = typeof import('#lib/encoding/parquet-codec');

/** Writes an object while it is being made: no more than about 5 MiB of it are in memory. */
export class ObjectWriter {
  /** What the file is written to. Its `flush` sends what is complete. */
  readonly writer: Writer;
  private readonly bytes: InstanceType<Loaded['ByteWriter']>;
  private readonly bucket: WritableBucket;
  private readonly key: string;
  private upload: R2MultipartUpload | null = null;
  private readonly parts: R2UploadedPart[] = [];

  constructor({ ByteWriter }: Pick<Loaded, 'ByteWriter'>, bucket: WritableBucket, key: string) {
    this.bucket = bucket;
    this.key = key;
    this.bytes = new ByteWriter();
    this.writer = Object.assign(this.bytes, { flush: () => this.send() });
  }

  /** Completes the object. Returns its length and that of the Parquet footer. */
  async finish(): Promise<{ bytes: number; footerBytes: number }> {
    const { bytes, upload, parts } = this;
    const rest = bytes.getBytes();
    const footerBytes = bytes.view.getUint32(bytes.index - 8, true) + 8;
    if (upload) {
      parts.push(await upload.uploadPart(parts.length + 1, rest));
      await upload.complete(parts);
    } else await this.bucket.put(this.key, rest);
    return { bytes: bytes.offset, footerBytes };
  }

  /** Gives up an object that is not complete. One that nobody gives up ends after a week. */
  async abort(): Promise<void> {
    await this.upload?.abort();
  }

  private async send(): Promise<void> {
    const { bytes, parts } = this;
    while (bytes.index >= PART_BYTES) {
      this.upload ??= await this.bucket.createMultipartUpload(this.key);
      parts.push(await this.upload.uploadPart(parts.length + 1, bytes.getBytes().slice(0, PART_BYTES)));
      const rest = bytes.getBytes().slice(PART_BYTES);
      bytes.index = 0;
      bytes.offset -= rest.length;
      bytes.appendBytes(rest);
    }
  }
}
