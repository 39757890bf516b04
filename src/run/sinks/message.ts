/** Protobuf messages, field by field, for the formats of other tools: what each field is stands beside its writer. */

import { BinaryWriter, WireType } from '@bufbuild/protobuf/wire';

export class Message {
  readonly #writer = new BinaryWriter();

  text(field: number, value: string): this {
    this.#writer.tag(field, WireType.LengthDelimited).string(value);
    return this;
  }

  bytes(field: number, value: Uint8Array): this {
    this.#writer.tag(field, WireType.LengthDelimited).bytes(value);
    return this;
  }

  int(field: number, value: number): this {
    this.#writer.tag(field, WireType.Varint).int64(value);
    return this;
  }

  bool(field: number, value: boolean): this {
    this.#writer.tag(field, WireType.Varint).bool(value);
    return this;
  }

  double(field: number, value: number): this {
    this.#writer.tag(field, WireType.Bit64).double(value);
    return this;
  }

  fixed64(field: number, value: bigint): this {
    this.#writer.tag(field, WireType.Bit64).fixed64(value);
    return this;
  }

  /** A message in this one. */
  inner(field: number, write: (inner: this) => unknown): this {
    this.#writer.tag(field, WireType.LengthDelimited).fork();
    write(this);
    this.#writer.join();
    return this;
  }

  finish(): Uint8Array {
    return this.#writer.finish();
  }
}
